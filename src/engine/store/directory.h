// directory.h: the directory of stored translations, from inside of a program. The program's process opens and writes
// the files itself, with the program's rights and in its view of the file system: what it could not do, the store does
// not do for it.
//
// Nothing is used that another user can write, or that is reached by a symbolic link at the end: the directory and each
// file belong to this user, and only this user has rights to the directory. A file is written under another name, and
// renamed when it is complete. It is never changed afterwards, so a process that has mapped it keeps what it has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/freestanding/own_area.h"
#include "run/stored_code.h"

namespace anyperf::engine {

/// The name of the file for a key: 16 digits and the suffix.
struct StoredName {
    char text[32];

    explicit StoredName(const run::StoredCodeKey& key);
};

/// The directory at `path`, open. Without fd() if it can't be used.
class StoreDirectory {
  public:
    explicit StoreDirectory(const char* path);
    ~StoreDirectory();
    StoreDirectory(const StoreDirectory&) = delete;
    StoreDirectory& operator=(const StoreDirectory&) = delete;

    bool usable() const { return fd_ >= 0; }
    /// Maps a file into the area, read-only. Empty if there is none that can be used. The bytes stay mapped until
    /// unmap_stored().
    std::span<const std::uint8_t> map(const StoredName& name, OwnArea& area) const;

  private:
    friend class NewStoredFile;
    long fd_ = -1;
};

/// A file of the directory while it is written. It has another name until it is complete().
class NewStoredFile {
  public:
    explicit NewStoredFile(const StoreDirectory& directory);
    /// Removes what is not complete.
    ~NewStoredFile();
    NewStoredFile(const NewStoredFile&) = delete;
    NewStoredFile& operator=(const NewStoredFile&) = delete;

    /// Whether it could be made, and the process may write so many bytes to it.
    bool may_have(std::size_t bytes) const;
    void write_at(std::uint64_t place, std::span<const std::uint8_t> bytes);
    /// Replaces the file of this name, if there is one. False if that or a write has failed: then nothing has changed.
    bool complete(const StoredName& name);

  private:
    const StoreDirectory& directory_;
    long fd_ = -1;
    bool good_ = false;
    char name_[32] = {};
};

void unmap_stored(std::span<const std::uint8_t> bytes);

}  // namespace anyperf::engine

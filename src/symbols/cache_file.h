// cache_file.h: files below ~/.cache/anyperf that keep what takes long to read: the kernel's names, functions of DWARF.
// They are a user's own (mode 0600) and only a help: any failure means that there is no cache. A file is written under
// another name and renamed, so that readers never see a part of it.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace anyperf::symbols {

/// A file in memory. The bytes live as long as `owner`. They are in pages of the file, which nobody changes but the
/// user.
struct CacheFile {
    std::shared_ptr<const void> owner;
    std::span<const std::byte> bytes;
};

/// Gives the memory of the file back to the kernel: of a large table that was checked as a whole only some pages are
/// used again. A later access reads them again.
void give_back(const CacheFile& file);

/// Nothing if there is no such file, if it is empty, or if it is not a regular file of this user.
std::optional<CacheFile> map_cache_file(const std::string& path);

/// Replaces the file by the pieces, and makes its directory. False: it could not, and the file is as before.
bool write_cache_file(const std::string& path, std::initializer_list<std::span<const std::byte>> pieces);

/// Removes the files of `directory` that were written longest ago, until the rest has at most `most` bytes.
void bound_cache(const std::string& directory, std::uint64_t most);

}  // namespace anyperf::symbols

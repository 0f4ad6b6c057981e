// made_files.h: the files that programs of a deterministic run have seen, made or changed, in the run memory. Their
// inode numbers and times depend on chance, so programs see numbers and times of the run's own
// (engine/syscalls/made_files.h).
//
// A file is known by the kernel's device and inode number. An entry is claimed once and never given up: when the file
// is removed and its inode number is used again, the entry describes the next file.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/run_state.h"
#include "run/written_files.h"

namespace anyperf::run {

/// A time that the run has not set: the kernel's is shown.
inline constexpr std::int64_t kNoFileTime = INT64_MIN;

/// Times are in ns since 1970, as programs see them.
struct MadeFile {
    enum State : std::uint32_t { free, claimed, known };
    std::uint32_t state;
    std::uint32_t number;  ///< in the order in which programs made or first saw the files; 0: none yet
    std::uint64_t device;
    std::uint64_t inode;
    std::int64_t born, changed, modified, accessed;
};

struct MadeFiles {
    static constexpr std::size_t kEntries = std::size_t{1} << 17;
    static constexpr std::size_t kLongestSearch = 64;

    std::int64_t started;   ///< CLOCK_REALTIME_COARSE, by which the kernel dates files, when the run began
    std::uint32_t numbers;  ///< given out
    MadeFile file[kEntries];

    /// The file's entry; null: it has none.
    MadeFile* find(std::uint64_t device, std::uint64_t inode) {
        for (std::size_t step = 0; step < kLongestSearch; ++step) {
            MadeFile& entry = file[place(device, inode, step)];
            const std::uint32_t state = state_of(entry);
            if (state == MadeFile::free) return nullptr;
            if (state == MadeFile::known && entry.device == device && entry.inode == inode) return &entry;
        }
        return nullptr;
    }

    /// The same; makes the entry if the file has none. Null: there is no room.
    MadeFile* find_or_add(std::uint64_t device, std::uint64_t inode) {
        for (std::size_t step = 0; step < kLongestSearch; ++step) {
            MadeFile& entry = file[place(device, inode, step)];
            std::uint32_t state = MadeFile::free;
            if (__atomic_compare_exchange_n(&entry.state, &state, static_cast<std::uint32_t>(MadeFile::claimed), false,
                                            __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE)) {
                entry.device = device;
                entry.inode = inode;
                entry.number = 0;
                entry.born = entry.changed = entry.modified = entry.accessed = kNoFileTime;
                __atomic_store_n(&entry.state, static_cast<std::uint32_t>(MadeFile::known), __ATOMIC_RELEASE);
                return &entry;
            }
            if (state == MadeFile::claimed) state = state_of(entry);
            if (state == MadeFile::known && entry.device == device && entry.inode == inode) return &entry;
        }
        return nullptr;
    }

    std::uint32_t new_number() { return __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED); }

  private:
    static std::size_t place(std::uint64_t device, std::uint64_t inode, std::size_t step) {
        // As FileSet in written_files.h.
        return static_cast<std::size_t>(((inode ^ device << 32) * 0x9e3779b97f4a7c15 >> 47) + step) % kEntries;
    }
    /// Waits for a program that is filling the entry, but not for long: it may have been killed.
    static std::uint32_t state_of(const MadeFile& entry) {
        constexpr int kLongestWait = 10'000;
        std::uint32_t state = __atomic_load_n(&entry.state, __ATOMIC_ACQUIRE);
        for (int waited = 0; state == MadeFile::claimed && waited < kLongestWait; ++waited) {
            __builtin_ia32_pause();
            state = __atomic_load_n(&entry.state, __ATOMIC_ACQUIRE);
        }
        return state;
    }
};

/// Where they are in the run memory: before the written files.
inline constexpr std::size_t kMadeFilesOffset = kWrittenFilesOffset - (sizeof(MadeFiles) + 4095) / 4096 * 4096;
static_assert(kTurnsOffset + sizeof(Turns) <= kMadeFilesOffset);

/// The inode number that programs see for the first file. No file system that is common gives such high ones.
inline constexpr std::uint64_t kFirstShownInode = std::uint64_t{1} << 48;

}  // namespace anyperf::run

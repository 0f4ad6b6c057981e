// made_files.h: the files that programs of a deterministic run have seen, made or changed, in the run memory. Their
// inode numbers and times depend on chance, so programs see numbers and times of the run's own
// (engine/syscalls/made_files.h).
//
// A file is known by the kernel's device and inode number. An entry is taken once and never given up: when the file is
// removed and its inode number is used again, the entry describes the next file. Entries are in the order in which
// files were first seen, and so are mostly those of a directory.
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
    std::uint64_t device;
    std::uint64_t inode;
    std::uint32_t number;  ///< in the order in which programs made or first saw the files; 0: none yet
    std::int64_t born, changed, modified, accessed;
};

struct MadeFiles {
    static constexpr std::size_t kEntries = std::size_t{1} << 17;
    static constexpr std::size_t kSlots = kEntries * 2;
    static constexpr std::size_t kLongestSearch = 256;

    std::int64_t started;   ///< CLOCK_REALTIME_COARSE, by which the kernel dates files, when the run began
    std::uint32_t numbers;  ///< given out
    std::uint32_t entries;  ///< taken
    /// A hash table: the number of a file's entry from 1 on, and above it bits of the file's hash.
    std::uint32_t slot[kSlots];
    MadeFile file[kEntries];

    /// The file's entry, made if it has none. Null: there is no room.
    MadeFile* find_or_add(std::uint64_t device, std::uint64_t inode) {
        const std::uint64_t hash = hash_of(device, inode);
        std::uint32_t added = 0;
        for (std::size_t step = 0; step < kLongestSearch; ++step) {
            std::uint32_t& at = slot[(home_of(hash, inode) + step) % kSlots];
            std::uint32_t known = __atomic_load_n(&at, __ATOMIC_ACQUIRE);
            if (known == 0) {
                // The entry is complete before its number is in the table. If another thread is faster with this slot,
                // the entry is for the next one.
                if (added == 0) added = add(device, inode);
                if (added == 0) return nullptr;
                if (__atomic_compare_exchange_n(&at, &known, tag_of(hash, inode) | added, false, __ATOMIC_ACQ_REL,
                                                __ATOMIC_ACQUIRE))
                    return &file[added - 1];
            }
            if (MadeFile* const entry = entry_of(known, tag_of(hash, inode));
                entry != nullptr && entry->device == device && entry->inode == inode)
                return entry;
        }
        return nullptr;
    }

    std::uint32_t new_number() { return __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED); }

  private:
    static constexpr std::uint32_t kNumberMask = kEntries * 2 - 1;
    /// Files of a directory mostly have neighbouring numbers: they get neighbouring slots.
    static constexpr std::uint64_t kNeighbours = 16;
    static_assert(kSlots == kNeighbours << 14);

    // Multiplication by 2^64 / phi, as in FileSet of written_files.h.
    static std::uint64_t hash_of(std::uint64_t device, std::uint64_t inode) {
        return (inode / kNeighbours ^ device << 32) * 0x9e3779b97f4a7c15;
    }
    static std::size_t home_of(std::uint64_t hash, std::uint64_t inode) {
        return static_cast<std::size_t>((hash >> 50) * kNeighbours + inode % kNeighbours) % kSlots;
    }
    static std::uint32_t tag_of(std::uint64_t hash, std::uint64_t inode) {
        return static_cast<std::uint32_t>((hash >> 18) ^ inode << 18) & ~kNumberMask;
    }
    /// Null: the slot is of a file with another hash. Programs can write the number, so it is checked.
    MadeFile* entry_of(std::uint32_t known, std::uint32_t tag) {
        const std::uint32_t number = known & kNumberMask;
        return (known & ~kNumberMask) == tag && number != 0 && number <= kEntries ? &file[number - 1] : nullptr;
    }
    /// Returns the number of the new entry; 0: all are taken.
    std::uint32_t add(std::uint64_t device, std::uint64_t inode) {
        if (__atomic_load_n(&entries, __ATOMIC_RELAXED) >= kEntries) return 0;
        const std::uint32_t number = __atomic_add_fetch(&entries, 1, __ATOMIC_RELAXED);
        if (number > kEntries) return 0;
        file[number - 1] = {.device = device,
                            .inode = inode,
                            .number = 0,
                            .born = kNoFileTime,
                            .changed = kNoFileTime,
                            .modified = kNoFileTime,
                            .accessed = kNoFileTime};
        return number;
    }
};

/// Where they are in the run memory: before the written files.
inline constexpr std::size_t kMadeFilesOffset = kWrittenFilesOffset - (sizeof(MadeFiles) + 4095) / 4096 * 4096;
static_assert(kTurnsOffset + sizeof(Turns) <= kMadeFilesOffset);

/// The inode number that programs see for the first file. No file system that is common gives such high ones.
inline constexpr std::uint64_t kFirstShownInode = std::uint64_t{1} << 48;

}  // namespace anyperf::run

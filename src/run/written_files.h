// written_files.h: which files the programs of a run execute code of, and which of those were opened for writing. A
// private mapping of a file shows what is written to the file, so code of such a file may change unseen.
//
// A program adds a file to `executed` before it maps code of it, then asks `opened`. One that opens a file for writing
// adds it to `opened`, then asks `executed`, and announces the file if it is there. Of two that do so at the same time
// at least one sees the other, because the accesses are sequentially consistent.
//
// Files are known by their inode number alone: stat(2) and /proc/PID/maps give different devices for one file on btrfs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "run/run_state.h"
#include "run/turns.h"

namespace anyperf::run {

/// A set of inode numbers. It may seem to have some that were not added.
class FileSet {
  public:
    void add(std::uint64_t inode) {
        if (!has(inode)) __atomic_fetch_or(&word_[slot(inode) / 64], bit(inode), __ATOMIC_SEQ_CST);
    }
    bool has(std::uint64_t inode) const {
        return (__atomic_load_n(&word_[slot(inode) / 64], __ATOMIC_SEQ_CST) & bit(inode)) != 0;
    }

  private:
    static constexpr std::size_t kSlots = 32768;
    // The high bits of a product with 2^64 / phi spread neighbouring numbers (Knuth, volume 3, 6.4).
    static constexpr std::size_t slot(std::uint64_t inode) { return inode * 0x9e3779b97f4a7c15 >> 49; }
    static constexpr std::uint64_t bit(std::uint64_t inode) { return std::uint64_t{1} << slot(inode) % 64; }
    std::uint64_t word_[kSlots / 64];
};

struct WrittenFiles {
    /// A file of which code is mapped that was opened for writing.
    struct Announcement {
        std::uint64_t inode;
        std::uint32_t number;  ///< from 1; written last
    };
    static constexpr std::uint32_t kKept = 64;

    FileSet executed;
    FileSet opened;
    std::uint32_t announced;   ///< how many announcements there were
    Announcement kept[kKept];  ///< the last ones: number N is at (N - 1) % kKept

    void announce(std::uint64_t inode) {
        const std::uint32_t number = __atomic_add_fetch(&announced, 1, __ATOMIC_SEQ_CST);
        Announcement& place = kept[(number - 1) % kKept];
        __atomic_store_n(&place.inode, inode, __ATOMIC_RELAXED);
        __atomic_store_n(&place.number, number, __ATOMIC_RELEASE);
    }
};

/// Where they are in the run memory: the last pages of its first part.
inline constexpr std::size_t kWrittenFilesOffset = kUseBytes - (sizeof(WrittenFiles) + 4095) / 4096 * 4096;
static_assert(kTurnsOffset + sizeof(Turns) <= kWrittenFilesOffset);

}  // namespace anyperf::run

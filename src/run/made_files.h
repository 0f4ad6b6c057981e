// made_files.h: the files that programs of a deterministic run have seen, made or changed, in the run memory. Their
// inode numbers and times depend on chance, so programs see numbers and times of the run's own
// (engine/syscalls/made_files.h).
//
// A file is known by the kernel's device and inode number. An entry is taken once and never given up: when the file is
// removed and its inode number is used again, the entry describes the next file. Entries are in the order in which
// files were first seen, and so are mostly those of a directory.
#pragma once

#include <sys/sysmacros.h>

#include <cstddef>
#include <cstdint>

#include "run/run_state.h"
#include "run/written_files.h"

namespace anyperf::run {

/// A time that the run has not set: the kernel's is shown.
inline constexpr std::int64_t kNoFileTime = INT64_MIN;

/// The inode number that programs see for the first file. No file system that is common gives such high ones.
inline constexpr std::uint64_t kFirstShownInode = std::uint64_t{1} << 48;
/// The generation of all inodes (FS_IOC_GETVERSION of ioctl_iflags(2)): a file that gets the inode of another one has a
/// number of its own.
inline constexpr std::uint32_t kShownGeneration = 1;

/// In ns since 1970, as programs see them.
struct FileTimes {
    std::int64_t born = kNoFileTime;
    std::int64_t changed = kNoFileTime;
    std::int64_t modified = kNoFileTime;
    std::int64_t accessed = kNoFileTime;
};

struct MadeFiles;

/// An entry of the table.
class MadeFile {
  public:
    MadeFile() = default;
    /// `entry`: its number, from 1 on.
    MadeFile(MadeFiles& files, std::uint32_t entry) : files_(&files), index_(entry - 1) {}

    /// Whether there is one.
    explicit operator bool() const { return files_ != nullptr; }
    std::uint32_t entry() const { return index_ + 1; }
    std::uint64_t device() const;
    /// In the order in which programs made or first saw the files; 0: none yet.
    std::uint32_t number() const;
    void set_number(std::uint32_t number) const;
    /// The inode number that programs see, once the file has a number.
    std::uint64_t shown_inode() const;
    FileTimes times() const;
    FileTimes& set_times() const;

  private:
    MadeFiles* files_ = nullptr;
    std::uint32_t index_ = 0;
};

/// Numbers for things that the kernel numbers by chance: from 1 on, in the order in which programs see them.
template <std::uint32_t kMost>
struct Numbering {
    std::uint64_t known[kMost];  ///< the kernel's numbers plus 1; 0: none yet

    /// 0: there is no room.
    std::uint32_t number_of(std::uint64_t kernels) {
        for (std::uint32_t i = 0; i < kMost; ++i) {
            std::uint64_t there = __atomic_load_n(&known[i], __ATOMIC_RELAXED);
            if (there == 0 &&
                __atomic_compare_exchange_n(&known[i], &there, kernels + 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                return i + 1;
            if (there == kernels + 1) return i + 1;
        }
        return 0;
    }
    /// Its number if it has one; 0: it has none.
    std::uint32_t known_number_of(std::uint64_t kernels_number) const {
        for (std::uint32_t i = 0; i < kMost; ++i) {
            const std::uint64_t there = __atomic_load_n(&known[i], __ATOMIC_RELAXED);
            if (there == kernels_number + 1) return i + 1;
            if (there == 0) break;
        }
        return 0;
    }
    /// What the kernel has for a number.
    std::uint64_t kernels(std::uint32_t number) const {
        return number - 1 < kMost ? __atomic_load_n(&known[number - 1], __ATOMIC_RELAXED) - 1 : 0;
    }
};

enum class DeviceKind : std::uint8_t {
    unknown,  ///< not asked yet
    stores,   ///< a file system that keeps files and their times
    kernels,  ///< the kernel makes a file when it is first looked at: /proc, /sys
};

struct MadeFiles {
    static constexpr std::size_t kEntries = std::size_t{1} << 17;
    static constexpr std::size_t kSlots = kEntries * 2;
    static constexpr std::size_t kLongestSearch = 256;

    std::int64_t started;              ///< CLOCK_REALTIME_COARSE, by which the kernel dates files, when the run began
    std::uint32_t numbers;             ///< given out
    std::uint32_t entries;             ///< taken
    std::uint32_t numbers_of_records;  ///< given out to files that were in a record before a program saw them
    std::uint64_t socket_device;       ///< the device of all sockets, once the run has made one
    Numbering<256> devices;
    /// Of each number in `devices`, in this order.
    DeviceKind device_kind[256];
    Numbering<1024> mounts;
    /// A hash table: the number of a file's entry from 1 on, and above it bits of the file's hash.
    std::uint32_t slot[kSlots];
    // The entries. Most files are only seen, so what all have is together in few pages of memory: the first use of each
    // costs more than thousands of look-ups.
    std::uint64_t inode[kEntries];
    std::uint8_t device[kEntries];  ///< its number in `devices`
    std::uint32_t state[kEntries];  ///< the file's number, and kHasTimes
    FileTimes times[kEntries];      ///< with kHasTimes
    static constexpr std::uint32_t kHasTimes = 1u << 31;
    /// In the number of a file that a record showed first. So the numbers of other files do not depend on what is
    /// recorded.
    static constexpr std::uint32_t kOfRecord = 1u << 30;

    /// The file's entry, made if it has none. None: there is no room.
    MadeFile find_or_add(std::uint64_t of_device, std::uint64_t of_inode) { return find(of_device, of_inode, true); }
    /// The file's entry; none: it has none, and `adds` is false or there is no room.
    MadeFile find(std::uint64_t of_device, std::uint64_t of_inode, bool adds) {
        const std::uint32_t number = devices.number_of(of_device);
        if (number == 0 || number > UINT8_MAX) return {};
        const std::uint64_t hash = hash_of(number, of_inode);
        std::uint32_t added = 0;
        for (std::size_t step = 0; step < kLongestSearch; ++step) {
            std::uint32_t& at = slot[(home_of(hash, of_inode) + step) % kSlots];
            std::uint32_t known = __atomic_load_n(&at, __ATOMIC_ACQUIRE);
            if (known == 0) {
                if (!adds) return {};
                // The entry is complete before its number is in the table. If another thread is faster with this slot,
                // the entry is for the next one.
                if (added == 0) added = add(static_cast<std::uint8_t>(number), of_inode);
                if (added == 0) return {};
                if (__atomic_compare_exchange_n(&at, &known, tag_of(hash, of_inode) | added, false, __ATOMIC_ACQ_REL,
                                                __ATOMIC_ACQUIRE))
                    return {*this, added};
            }
            if (const std::uint32_t entry = entry_of(known, tag_of(hash, of_inode));
                entry != 0 && device[entry - 1] == number && inode[entry - 1] == of_inode)
                return {*this, entry};
        }
        return {};
    }

    /// The entry with this number; none: there is no such entry.
    MadeFile at(std::uint32_t entry) { return entry - 1 < kEntries ? MadeFile{*this, entry} : MadeFile{}; }

    std::uint32_t new_number() { return __atomic_add_fetch(&numbers, 1, __ATOMIC_RELAXED); }

    /// The inode number that a record shows; the kernel's if there is no room.
    std::uint64_t inode_in_record(std::uint64_t of_device, std::uint64_t of_inode);
    /// The device that programs and records show; the kernel's if there is no room.
    std::uint64_t shown_device(std::uint64_t kernels) {
        const std::uint32_t number = devices.number_of(kernels);
        return number != 0 ? makedev(0, number) : kernels;
    }

  private:
    static constexpr std::uint32_t kNumberMask = kEntries * 2 - 1;
    /// Files of a directory mostly have neighbouring numbers: they get neighbouring slots.
    static constexpr std::uint64_t kNeighbours = 16;
    static_assert(kSlots == kNeighbours << 14);

    // Multiplication by 2^64 / phi, as in FileSet of written_files.h.
    static std::uint64_t hash_of(std::uint64_t device_number, std::uint64_t of_inode) {
        return (of_inode / kNeighbours ^ device_number << 32) * 0x9e3779b97f4a7c15;
    }
    static std::size_t home_of(std::uint64_t hash, std::uint64_t of_inode) {
        return static_cast<std::size_t>((hash >> 50) * kNeighbours + of_inode % kNeighbours) % kSlots;
    }
    static std::uint32_t tag_of(std::uint64_t hash, std::uint64_t of_inode) {
        return static_cast<std::uint32_t>((hash >> 18) ^ of_inode << 18) & ~kNumberMask;
    }
    /// 0: the slot is of a file with another hash. Programs can write the number, so it is checked.
    static std::uint32_t entry_of(std::uint32_t known, std::uint32_t tag) {
        const std::uint32_t number = known & kNumberMask;
        return (known & ~kNumberMask) == tag && number <= kEntries ? number : 0;
    }
    /// Returns the number of the new entry; 0: all are taken.
    std::uint32_t add(std::uint8_t device_number, std::uint64_t of_inode) {
        if (__atomic_load_n(&entries, __ATOMIC_RELAXED) >= kEntries) return 0;
        const std::uint32_t number = __atomic_add_fetch(&entries, 1, __ATOMIC_RELAXED);
        if (number - 1 >= kEntries) return 0;  // also of 0: programs can write the counter meanwhile
        inode[number - 1] = of_inode;
        device[number - 1] = device_number;
        return number;
    }
};

inline std::uint64_t MadeFile::device() const {
    return files_->devices.kernels(files_->device[index_]);
}
inline std::uint32_t MadeFile::number() const {
    return __atomic_load_n(&files_->state[index_], __ATOMIC_RELAXED) & ~MadeFiles::kHasTimes;
}
inline void MadeFile::set_number(std::uint32_t number) const {
    const std::uint32_t times = files_->state[index_] & MadeFiles::kHasTimes;
    __atomic_store_n(&files_->state[index_], times | number, __ATOMIC_RELAXED);
}
inline std::uint64_t MadeFile::shown_inode() const {
    return kFirstShownInode + number() - 1;
}
inline FileTimes MadeFile::times() const {
    return (files_->state[index_] & MadeFiles::kHasTimes) != 0 ? files_->times[index_] : FileTimes{};
}
inline std::uint64_t MadeFiles::inode_in_record(std::uint64_t of_device, std::uint64_t of_inode) {
    const MadeFile file = find_or_add(of_device, of_inode);
    if (!file) return of_inode;
    if (file.number() == 0) file.set_number(kOfRecord | __atomic_add_fetch(&numbers_of_records, 1, __ATOMIC_RELAXED));
    return file.shown_inode();
}
inline FileTimes& MadeFile::set_times() const {
    if ((files_->state[index_] & MadeFiles::kHasTimes) == 0) {
        files_->times[index_] = {};
        __atomic_fetch_or(&files_->state[index_], MadeFiles::kHasTimes, __ATOMIC_RELEASE);
    }
    return files_->times[index_];
}

/// Where they are in the run memory: before the written files.
inline constexpr std::size_t kMadeFilesOffset = kWrittenFilesOffset - (sizeof(MadeFiles) + 4095) / 4096 * 4096;
static_assert(kTurnsOffset + sizeof(Turns) <= kMadeFilesOffset);

}  // namespace anyperf::run

// made_files.h: inode numbers and times of files in a deterministic run.
//
// PROBLEM. Programs print, compare and hash the inode numbers and times of files. They depend on what else the machine
// does and when, and on how the files of the input were copied to it.
//
// MECHANISM. The run keeps a table of the files that its programs have seen, made or changed (run/made_files.h). Files
// are numbered in this order; a new file gets a new number. Calls that make or change files are followed: their time is
// that of the run's clock. Calls that report about files (stat(2), statx(2), getdents(2)) show these. The time of day
// in the run is not the machine's, so other times are shown as before the run, in their order: later ones than a day
// before the run's epoch are moved into that day. What changed during the run, and not by a followed call, shows the
// beginning of the run. The time of the last access is that of the last change, unless a program has set it.
//
// Devices and mounts are numbered as files are, because the kernel counts those without a disk (tmpfs, overlay) since
// it has booted: each container has others. A device is shown as 0:NUMBER, which no disk has. Programs see the numbers
// in all calls and files that report them (mount_files.h, application_maps.h), so they can compare them. Records of
// events have these numbers, too: the broker takes them from the table.
//
// The kernel makes files of /proc and /sys when they are first looked at, by any program. They are as old as the run.
//
// LIMITS. Not followed: what is written through a shared mapping, sockets with a name, and open_by_handle_at(2). The
// table has room for 131,072 files; further ones have the kernel's inode number. st_rdev of a device file is the
// kernel's. Times on the disk are the kernel's.
#pragma once

#include <sys/stat.h>

#include "engine/syscalls/call.h"
#include "run/made_files.h"

namespace anyperf::engine {

/// The table of a deterministic run.
run::MadeFiles& made_files(const Engine& engine);

/// The inode number that programs see. `mode`: the file's type, as of stat(2).
std::uint64_t shown_inode(const Engine& engine, std::uint64_t device, std::uint64_t inode, unsigned mode);

/// The device and the mount that programs of a deterministic run see: st_dev of stat(2), and stx_mnt_id of statx(2).
std::uint64_t shown_device(const Engine& engine, std::uint64_t device);
std::uint64_t shown_mount(const Engine& engine, std::uint64_t mount);

/// What a call reports about a file, as programs of a deterministic run see it.
struct FileFacts {
    std::uint64_t device, inode;
    std::uint32_t mode;
    std::int64_t accessed, modified, changed, born;  ///< in ns since 1970
    bool of_kernel;  ///< it has no times of its own: the kernel has made it when somebody looked at it
};
/// Returns the file's entry; none: there is no room for one.
run::MadeFile show_file(const Engine& engine, FileFacts& facts);

/// The entry that is remembered of the file of a descriptor, after a call that has reported about it or has written to
/// it. There may be none.
run::MadeFile remembered_file(const Call& call, std::uint64_t fd);

/// The time that a program of the run sees for a time of a file that is older than the run, and the reverse.
std::int64_t shown_file_time(const Engine& engine, std::int64_t real);
std::int64_t real_file_time(const Engine& engine, std::int64_t shown);

/// A call of a deterministic run that may make, change or report about a file. Made before the call.
class FileCall {
  public:
    explicit FileCall(Call& call);
    FileCall(const FileCall&) = delete;
    FileCall& operator=(const FileCall&) = delete;

    /// Called after the call.
    void finish(long answer) {
        if (row_ != nullptr) finish_row(answer);
    }

    struct Row;

  private:
    void finish_row(long answer);
    void give_real_times();
    void note_opened(long answer);

    Call& call_;
    const Row* row_ = nullptr;
    bool was_there_ = false;      ///< open with O_CREAT: the file existed
    std::uint32_t recorded_ = 0;  ///< of a call that may make a file: MadeFiles::numbers_of_records before it
    struct stat removed_;         ///< unlink: the file, if it has other names
    std::uint64_t given_ = 0;     ///< utimensat: the program's argument; 0: it is in place
    timespec given_times_[2];     ///< the times in the argument
    timespec real_times_[2];      ///< what the kernel gets instead
};

}  // namespace anyperf::engine

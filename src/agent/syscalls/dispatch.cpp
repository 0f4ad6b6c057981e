// dispatch.cpp: the table of the system calls that concern events, a row for each.
//
// Problem: an event's descriptor is a socket in the process (docs/architecture.md), so most system calls would treat it
// as a socket. In the kernel the descriptor is an anonymous inode with the operations of perf_fops
// (kernel/events/core.c), and programs notice the difference: there write fails with EINVAL and getsockopt with
// ENOTSOCK.
//
// Mechanism: each row has a system call and its handler. If the handler returns false, the engine makes the call as for
// any other file. Most handlers decide by a descriptor (on_event), a path (redirect_path) or an address (rings). In a
// process that has never had an event, on_event() costs one load: event_of() finds no table.
//
// So a new system call that takes a descriptor needs a row. Otherwise it treats an event as a socket.
#include "agent/syscalls/dispatch.h"

#include <asm/ioctls.h>
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/prctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>

#include "agent/anonymous_inode.h"
#include "agent/broker_request.h"
#include "agent/lifecycle/side_band.h"
#include "agent/presented/redirected_files.h"
#include "agent/presented/setting_files.h"
#include "agent/presented/shown_directories.h"
#include "agent/probes/probes.h"
#include "agent/probes/uprobe_events_file.h"
#include "agent/python/python_functions.h"
#include "agent/sampling/overflow_signals.h"
#include "agent/sampling/update_active_events.h"
#include "agent/syscalls/descriptors.h"
#include "agent/syscalls/epoll.h"
#include "agent/syscalls/event_syscalls.h"
#include "agent/syscalls/submitted_requests.h"
#include "agent/vdso_calls.h"

namespace anyperf::agent {

namespace {

/// Answers a call. False if the call does not concern events; then the engine makes it.
using Handler = bool (*)(Call&, long&);

struct EventCallRow {
    std::uint16_t number;
    Handler handle;
    /// Whether the call may change the caller's own events. If the broker requests a safepoint of the calling thread,
    /// the thread then updates its events at once: at the safepoint, the change would come after the call has returned.
    bool may_change_events;
};

/// Calls `kHandle` if argument `kIndex` is the descriptor of an event.
template <unsigned kIndex, long (*kHandle)(Call&, EventIndex)>
bool on_event(Call& call, long& answer) {
    const EventIndex event = event_of(call.engine, call.argument[kIndex]);
    if (event == 0) return false;
    answer = kHandle(call, event);
    return true;
}

/// For calls that the kernel refuses on an event, always with the same error.
template <int kError>
long refused(Call&, EventIndex) {
    return -kError;
}

constexpr Handler no_socket = on_event<0, refused<ENOTSOCK>>;

// An event has no position. The next three functions check first for arguments that are EINVAL for every file.

/// pread(2) and other calls with a position in argument 3.
long no_position(Call& call, EventIndex) {
    return static_cast<std::int64_t>(call.argument[3]) < 0 ? -EINVAL : -ESPIPE;
}

/// An event cannot be written. Position -1 is the file's own.
long pwritev2_event(Call& call, EventIndex event) {
    return static_cast<std::int64_t>(call.argument[3]) == -1 ? -EINVAL : no_position(call, event);
}

long seek_event(Call& call, EventIndex) {
    constexpr std::uint32_t kLastWhence = 4;  // SEEK_HOLE
    return static_cast<std::uint32_t>(call.argument[2]) > kLastWhence ? -EINVAL : -ESPIPE;
}

bool write_row(Call& call, long& answer) {
    return on_event<0, refused<EINVAL>>(call, answer) || write_probe_list(call, answer) || write_setting(call, answer);
}

bool open_row(Call& call, long& answer) {
    if (!has_broker(call.engine)) return false;
    answer = perf_event_open(call);
    return true;
}

// The order matters: a fixed mapping that would cut a ring in two is refused, whatever it maps. So that check comes
// before the check for an event's descriptor.
bool mmap_row(Call& call, long& answer) {
    if ((call.argument[3] & MAP_FIXED) != 0)
        forget_vdso(call.engine, call.argument[0], call.argument[0] + call.argument[1]);
    if ((call.argument[3] & MAP_FIXED) != 0 && would_split_ring(call, call.argument[0], call.argument[1], answer))
        return true;
    if ((call.argument[3] & MAP_ANONYMOUS) != 0) return false;
    const EventIndex event = event_of(call.engine, call.argument[4]);
    if (event == 0) return false;
    answer = map_ring(call, event);
    return true;
}

bool munmap_row(Call& call, long& answer) {
    forget_vdso(call.engine, call.argument[0], call.argument[0] + call.argument[1]);
    const std::uint64_t start = call.argument[0], bytes = call.argument[1];
    if (would_split_ring(call, start, bytes, answer)) return true;
    // Before the call, because afterwards another thread may have mapped the memory.
    if (start % engine::kPageBytes == 0) forget_rings(call.thread, start, bytes);
    return false;
}

// fstatat(2) and statx(2) take a path, or a descriptor with an empty path (AT_EMPTY_PATH).
bool stat_row(Call& call, long& answer) {
    return by_empty_path(call, answer) || redirect_path<1>(call, answer);
}

template <unsigned kPath>
bool readlink_row(Call& call, long& answer) {
    return redirect_path<kPath>(call, answer) || readlink_event(call, answer) || link_to_directory(call, answer);
}

/// do_vfs_ioctl() (fs/ioctl.c in the kernel) handles some requests of every file before the file's own handler. For
/// these, the call goes to the kernel, or to an anonymous inode.
bool ioctl_row(Call& call, long& answer) {
    const auto request = static_cast<std::uint32_t>(call.argument[1]);
    for (const std::uint32_t common : {FIOCLEX, FIONCLEX, FIONBIO})
        if (request == common) return false;
    if (request == FIOASYNC) return on_event<0, ioctl_async>(call, answer);
    for (const std::uint32_t of_inode : {FIGETBSZ, static_cast<std::uint32_t>(FS_IOC_FIEMAP)})
        if (request == of_inode) return on_event<0, on_anonymous_inode<0>>(call, answer);
    return on_event<0, ioctl_event>(call, answer);
}

/// For calls that transfer data between two descriptors: EINVAL if either is an event, but EBADF if the other is not
/// open, which the kernel finds first.
template <unsigned kFirst, unsigned kSecond>
bool no_transfer(Call& call, long& answer) {
    if (event_of(call.engine, call.argument[kFirst]) == 0 && event_of(call.engine, call.argument[kSecond]) == 0)
        return false;
    answer = -EINVAL;
    for (const unsigned index : {kFirst, kSecond})
        if (engine::kernel_call(__NR_fcntl, call.argument[index], F_GETFD) == -EBADF) answer = -EBADF;
    return true;
}

/// sendfile(2) from an event to a position of its own is refused first (do_sendfile() in fs/read_write.c).
bool sendfile_row(Call& call, long& answer) {
    if (call.argument[2] == 0 || event_of(call.engine, call.argument[1]) == 0) return no_transfer<0, 1>(call, answer);
    answer = -ESPIPE;
    return true;
}

// prctl(2) enables or disables the events that the thread has opened, and if the run's host wants it so, the host's. A
// process without events has none, so the answer is 0 without a request to the broker.
bool prctl_row(Call& call, long& answer) {
    if (call.argument[0] != PR_TASK_PERF_EVENTS_ENABLE && call.argument[0] != PR_TASK_PERF_EVENTS_DISABLE) return false;
    if (!has_broker(call.engine)) return false;
    answer = existing_process(call.engine) == nullptr && call.engine.run->programs_switch == 0
                 ? 0
                 : prctl_events(call, call.argument[0] == PR_TASK_PERF_EVENTS_ENABLE);
    return true;
}

bool mremap_row(Call& call, long& answer) {
    forget_vdso(call.engine, call.argument[0], call.argument[0] + call.argument[1]);
    // The place of a fixed move is unmapped first, with a ring that is there.
    const bool is_fixed = (call.argument[3] & MREMAP_FIXED) != 0;
    if (is_fixed && would_split_ring(call, call.argument[4], call.argument[2], answer)) return true;
    return remap_ring(call, answer);
}

constexpr std::uint16_t kFchmodat2 = 452;  // __NR_fchmodat2 of Linux 6.6, which older headers lack

constexpr std::array kRows{
    EventCallRow{__NR_read, on_event<0, read_event>, false},
    EventCallRow{__NR_write, write_row, true},
    EventCallRow{__NR_open, redirect_path<0>, false},
    EventCallRow{__NR_stat, redirect_path<0>, false},
    EventCallRow{__NR_fstat, on_event<0, on_anonymous_inode<0>>, false},
    EventCallRow{__NR_lstat, redirect_path<0>, false},
    EventCallRow{__NR_poll, poll_events, false},
    EventCallRow{__NR_lseek, on_event<0, seek_event>, false},
    EventCallRow{__NR_mmap, mmap_row, true},
    EventCallRow{__NR_mprotect, protect_ring, false},
    EventCallRow{__NR_munmap, munmap_row, true},
    EventCallRow{__NR_brk, move_break, false},
    EventCallRow{__NR_ioctl, ioctl_row, true},
    EventCallRow{__NR_pread64, on_event<0, no_position>, false},
    EventCallRow{__NR_pwrite64, on_event<0, no_position>, false},
    EventCallRow{__NR_readv, on_event<0, readv_event>, false},
    EventCallRow{__NR_writev, on_event<0, refused<EINVAL>>, false},
    EventCallRow{__NR_access, redirect_path<0>, false},
    EventCallRow{__NR_select, select_events, false},
    EventCallRow{__NR_mremap, mremap_row, false},
    EventCallRow{__NR_msync, refuse_on_ring, false},
    EventCallRow{__NR_madvise, advise_ring, false},
    EventCallRow{__NR_sendfile, sendfile_row, false},
    EventCallRow{__NR_connect, no_socket, false},
    EventCallRow{__NR_accept, no_socket, false},
    EventCallRow{__NR_sendto, no_socket, false},
    EventCallRow{__NR_recvfrom, no_socket, false},
    EventCallRow{__NR_sendmsg, no_socket, false},
    EventCallRow{__NR_recvmsg, no_socket, false},
    EventCallRow{__NR_shutdown, no_socket, false},
    EventCallRow{__NR_bind, no_socket, false},
    EventCallRow{__NR_listen, no_socket, false},
    EventCallRow{__NR_getsockname, no_socket, false},
    EventCallRow{__NR_getpeername, no_socket, false},
    EventCallRow{__NR_setsockopt, no_socket, false},
    EventCallRow{__NR_getsockopt, no_socket, false},
    EventCallRow{__NR_wait4, wait_for_child, false},
    EventCallRow{__NR_fcntl, fcntl_event, false},
    EventCallRow{__NR_fsync, on_event<0, refused<EINVAL>>, false},
    EventCallRow{__NR_fdatasync, on_event<0, refused<EINVAL>>, false},
    EventCallRow{__NR_ftruncate, on_event<0, refused<EINVAL>>, false},
    EventCallRow{__NR_getcwd, current_directory, false},
    EventCallRow{__NR_chdir, change_directory, false},
    EventCallRow{__NR_readlink, readlink_row<0>, false},
    EventCallRow{__NR_fchmod, on_event<0, on_anonymous_inode<0>>, false},
    EventCallRow{__NR_fchown, on_event<0, on_anonymous_inode<0>>, false},
    EventCallRow{__NR_statfs, redirect_path<0>, false},
    EventCallRow{__NR_fstatfs, on_event<0, on_anonymous_inode<0>>, false},
    EventCallRow{__NR_prctl, prctl_row, true},
    EventCallRow{__NR_readahead, on_event<0, refused<EINVAL>>, false},
    EventCallRow{__NR_fsetxattr, on_event<0, on_anonymous_inode<0>>, false},
    EventCallRow{__NR_getxattr, redirect_path<0>, false},
    EventCallRow{__NR_lgetxattr, redirect_path<0>, false},
    EventCallRow{__NR_fgetxattr, on_event<0, on_anonymous_inode<0>>, false},
    EventCallRow{__NR_listxattr, redirect_path<0>, false},
    EventCallRow{__NR_llistxattr, redirect_path<0>, false},
    EventCallRow{__NR_flistxattr, on_event<0, on_anonymous_inode<0>>, false},
    EventCallRow{__NR_fremovexattr, on_event<0, on_anonymous_inode<0>>, false},
    EventCallRow{__NR_io_submit, submit_requests, false},
    EventCallRow{__NR_remap_file_pages, refuse_on_ring, false},
    EventCallRow{__NR_epoll_wait, epoll_wait_events, false},
    EventCallRow{__NR_epoll_ctl, epoll_control, false},
    EventCallRow{__NR_waitid, wait_for_child, false},
    EventCallRow{__NR_openat, redirect_path<1>, false},
    EventCallRow{__NR_fchownat, by_empty_path, false},
    EventCallRow{__NR_newfstatat, stat_row, false},
    EventCallRow{__NR_readlinkat, readlink_row<1>, false},
    EventCallRow{__NR_faccessat, redirect_path<1>, false},
    EventCallRow{__NR_pselect6, select_events, false},
    EventCallRow{__NR_ppoll, poll_events, false},
    EventCallRow{__NR_splice, no_transfer<0, 2>, false},
    EventCallRow{__NR_tee, no_transfer<0, 1>, false},
    EventCallRow{__NR_utimensat, times_by_descriptor, false},
    EventCallRow{__NR_epoll_pwait, epoll_wait_events, false},
    EventCallRow{__NR_accept4, no_socket, false},
    EventCallRow{__NR_preadv, on_event<0, no_position>, false},
    EventCallRow{__NR_pwritev, on_event<0, no_position>, false},
    EventCallRow{__NR_perf_event_open, open_row, true},
    EventCallRow{__NR_recvmmsg, no_socket, false},
    EventCallRow{__NR_sendmmsg, no_socket, false},
    EventCallRow{__NR_copy_file_range, no_transfer<0, 2>, false},
    EventCallRow{__NR_preadv2, on_event<0, preadv2_event>, false},
    EventCallRow{__NR_pwritev2, on_event<0, pwritev2_event>, false},
    EventCallRow{__NR_pkey_mprotect, protect_ring, false},
    EventCallRow{__NR_statx, stat_row, false},
    EventCallRow{__NR_io_uring_enter, enter_ring, false},
    EventCallRow{__NR_openat2, redirect_path<1>, false},
    EventCallRow{__NR_faccessat2, redirect_path<1>, false},
    EventCallRow{__NR_epoll_pwait2, epoll_wait_events, false},
    EventCallRow{kFchmodat2, by_empty_path, false},
};
// handle_event_syscall() does a binary search.
static_assert(std::ranges::is_sorted(kRows, {}, &EventCallRow::number));

}  // namespace

bool handle_event_syscall(Call& call, long& answer) {
    const auto row = std::ranges::lower_bound(kRows, call.number, {}, &EventCallRow::number);
    if (row == kRows.end() || row->number != call.number) return false;
    // Before the handler, because the table of descriptors may be out of date if another process shares them
    // (descriptors.h).
    refresh_descriptors(call);
    if (!row->handle(call, answer)) return false;
    if (row->may_change_events && call.thread.page.safepoint_requested != 0) update_active_events(call.thread);
    return true;
}

namespace {

bool writes(const Call& call) {
    return call.number == __NR_write || call.number == __NR_pwrite64 || call.number == __NR_writev ||
           call.number == __NR_pwritev || call.number == __NR_pwritev2;
}

}  // namespace

// A failed call is taken to have changed nothing.
void follow_syscall(Call& call, long answer) {
    if (engine::is_error(answer)) return;
    track_descriptors(call, answer);
    if (writes(call) && has_broker(call.engine)) report_moved_tasks(call);
    if (existing_process(call.engine) == nullptr) return;
    if (call.number == __NR_sched_setaffinity) report_if_moved(call.thread);
    if (call.number == __NR_mmap && (call.argument[2] & PROT_EXEC) != 0 && (call.argument[3] & MAP_ANONYMOUS) == 0)
        note_mapped_code(*existing_process(call.engine));
    if (call.number == __NR_mmap && (call.argument[3] & MAP_FIXED) != 0)
        forget_rings(call.thread, static_cast<std::uint64_t>(answer), call.argument[1]);
    if (call.number == __NR_mremap && (call.argument[3] & MREMAP_FIXED) != 0)
        forget_rings(call.thread, call.argument[4], call.argument[2]);
    if (existing_process(call.engine)->probed_places != nullptr) rescan_mappings_after(call, answer);
    if (call.engine.run->wanted_side_band != 0) report_side_band(call, answer);
}

}  // namespace anyperf::agent

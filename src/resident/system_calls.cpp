// system_calls.cpp: which system calls have to do with events: a row each. A call on a descriptor that is no event goes
// on to the engine's own table.
#include <asm/ioctls.h>
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>

#include "engine/attached.h"
#include "resident/armed.h"
#include "resident/calls.h"
#include "resident/clock.h"
#include "resident/descriptors.h"
#include "resident/files.h"
#include "resident/notify.h"
#include "resident/probe_list.h"
#include "resident/probes.h"
#include "resident/request.h"
#include "resident/side_band.h"

namespace anyperf::resident {

namespace {

/// Handles a call; false: it is none of ours.
using Handler = bool (*)(Call&, long&);

struct EventCallRow {
    std::uint16_t number;
    Handler handle;
    bool may_change_events;  ///< the thread looks what it is to count before it goes on
};

/// For calls whose argument `kIndex` is a descriptor.
template <unsigned kIndex, long (*kHandle)(Call&, EventIndex)>
bool on_event(Call& call, long& answer) {
    const EventIndex event = event_of(call.engine, call.argument[kIndex]);
    if (event == 0) return false;
    answer = kHandle(call, event);
    return true;
}

long invalid(Call&, EventIndex) {
    return -EINVAL;
}

long no_position(Call&, EventIndex) {
    return -ESPIPE;
}

bool write_row(Call& call, long& answer) {
    return on_event<0, invalid>(call, answer) || write_probe_list(call, answer);
}

bool open_row(Call& call, long& answer) {
    if (!hosted(call.engine)) return false;
    answer = perf_event_open(call);
    return true;
}

bool mmap_row(Call& call, long& answer) {
    if ((call.argument[3] & MAP_FIXED) != 0)
        forget_clock(call.engine, call.argument[0], call.argument[0] + call.argument[1]);
    if ((call.argument[3] & MAP_FIXED) != 0 && splits_ring(call, call.argument[0], call.argument[1], answer))
        return true;
    if ((call.argument[3] & MAP_ANONYMOUS) != 0) return false;
    const EventIndex event = event_of(call.engine, call.argument[4]);
    if (event == 0) return false;
    answer = map_event(call, event);
    return true;
}

bool munmap_row(Call& call, long& answer) {
    forget_clock(call.engine, call.argument[0], call.argument[0] + call.argument[1]);
    const std::uint64_t start = call.argument[0], bytes = call.argument[1];
    if (splits_ring(call, start, bytes, answer)) return true;
    // Before the memory can be another mapping's.
    if (start % engine::kPageBytes == 0) forget_rings(call.thread, start, bytes);
    return false;
}

bool fstat_row(Call& call, long& answer) {
    if (event_of(call.engine, call.argument[0]) == 0) return false;
    answer = stat_event(call, call.argument[1]);
    return true;
}

/// As libc's fstat asks.
bool fstatat_row(Call& call, long& answer) {
    if ((call.argument[3] & AT_EMPTY_PATH) == 0 || event_of(call.engine, call.argument[0]) == 0) return false;
    answer = stat_event(call, call.argument[2]);
    return true;
}

bool newfstatat_row(Call& call, long& answer) {
    return fstatat_row(call, answer) || on_path<1>(call, answer);
}

bool readlink_row(Call& call, long& answer) {
    return readlink_event(call, answer) || on_path<0>(call, answer);
}

/// ioctls of any file are the kernel's.
bool ioctl_row(Call& call, long& answer) {
    const auto request = static_cast<std::uint32_t>(call.argument[1]);
    for (const std::uint32_t common : {FIOCLEX, FIONCLEX, FIONBIO})
        if (request == common) return false;
    return on_event<0, control_event>(call, answer);
}

/// From an event or into one.
bool splice_row(Call& call, long& answer) {
    if (event_of(call.engine, call.argument[0]) == 0 && event_of(call.engine, call.argument[2]) == 0) return false;
    answer = -EINVAL;
    return true;
}

bool sendfile_row(Call& call, long& answer) {
    if (event_of(call.engine, call.argument[0]) == 0 && event_of(call.engine, call.argument[1]) == 0) return false;
    answer = -EINVAL;
    return true;
}

bool prctl_row(Call& call, long& answer) {
    if (call.argument[0] != PR_TASK_PERF_EVENTS_ENABLE && call.argument[0] != PR_TASK_PERF_EVENTS_DISABLE) return false;
    if (!hosted(call.engine)) return false;
    answer =
        known_process(call.engine) == nullptr ? 0 : switch_events(call, call.argument[0] == PR_TASK_PERF_EVENTS_ENABLE);
    return true;
}

bool mremap_row(Call& call, long& answer) {
    forget_clock(call.engine, call.argument[0], call.argument[0] + call.argument[1]);
    return remap_event(call, answer);
}

constexpr std::array kRows{
    EventCallRow{__NR_read, on_event<0, read_event>, false},
    EventCallRow{__NR_write, write_row, false},
    EventCallRow{__NR_open, on_path<0>, false},
    EventCallRow{__NR_stat, on_path<0>, false},
    EventCallRow{__NR_fstat, fstat_row, false},
    EventCallRow{__NR_lstat, on_path<0>, false},
    EventCallRow{__NR_poll, poll_events, false},
    EventCallRow{__NR_lseek, on_event<0, no_position>, false},
    EventCallRow{__NR_mmap, mmap_row, true},
    EventCallRow{__NR_mprotect, protect_event, false},
    EventCallRow{__NR_munmap, munmap_row, true},
    EventCallRow{__NR_brk, move_break, false},
    EventCallRow{__NR_ioctl, ioctl_row, true},
    EventCallRow{__NR_pread64, on_event<0, no_position>, false},
    EventCallRow{__NR_pwrite64, on_event<0, no_position>, false},
    EventCallRow{__NR_readv, on_event<0, readv_event>, false},
    EventCallRow{__NR_writev, on_event<0, invalid>, false},
    EventCallRow{__NR_access, on_path<0>, false},
    EventCallRow{__NR_select, select_events, false},
    EventCallRow{__NR_mremap, mremap_row, false},
    EventCallRow{__NR_sendfile, sendfile_row, false},
    EventCallRow{__NR_wait4, wait_for_child, false},
    EventCallRow{__NR_fcntl, control_notification, false},
    EventCallRow{__NR_ftruncate, on_event<0, invalid>, false},
    EventCallRow{__NR_readlink, readlink_row, false},
    EventCallRow{__NR_statfs, on_path<0>, false},
    EventCallRow{__NR_prctl, prctl_row, true},
    EventCallRow{__NR_epoll_ctl, epoll_control, false},
    EventCallRow{__NR_waitid, wait_for_child, false},
    EventCallRow{__NR_openat, on_path<1>, false},
    EventCallRow{__NR_newfstatat, newfstatat_row, false},
    EventCallRow{__NR_readlinkat, on_path<1>, false},
    EventCallRow{__NR_faccessat, on_path<1>, false},
    EventCallRow{__NR_pselect6, select_events, false},
    EventCallRow{__NR_ppoll, poll_events, false},
    EventCallRow{__NR_splice, splice_row, false},
    EventCallRow{__NR_perf_event_open, open_row, true},
    EventCallRow{__NR_statx, on_path<1>, false},
    EventCallRow{__NR_openat2, on_path<1>, false},
    EventCallRow{__NR_faccessat2, on_path<1>, false},
};
static_assert(std::ranges::is_sorted(kRows, {}, &EventCallRow::number));

}  // namespace

}  // namespace anyperf::resident

namespace anyperf::engine::attached {

bool system_call(Call& call, long& answer) {
    const auto row = std::ranges::lower_bound(resident::kRows, call.number, {}, &resident::EventCallRow::number);
    if (row == resident::kRows.end() || row->number != call.number || !row->handle(call, answer)) return false;
    if (row->may_change_events && call.thread.page.attention != 0) resident::settle(call.thread);
    return true;
}

void called(Call& call, long answer) {
    if (call.engine.attached == nullptr || is_error(answer)) return;
    resident::watch_descriptors(call, answer);
    if (call.number == __NR_sched_setaffinity) resident::tell_if_moved(call.thread);
    if (call.number == __NR_mmap && (call.argument[3] & MAP_FIXED) != 0)
        resident::forget_rings(call.thread, static_cast<std::uint64_t>(answer), call.argument[1]);
    if (call.engine.attached->probed != nullptr) resident::look_at_mappings(call, answer);
    if (call.engine.run->wanted != 0) resident::tell_side_band(call, answer);
}

}  // namespace anyperf::engine::attached

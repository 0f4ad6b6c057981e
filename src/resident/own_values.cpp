// own_values.cpp: see own_values.h.
#include "resident/own_values.h"

#include <errno.h>
#include <sys/uio.h>

#include "abi/sample_bits.h"
#include "resident/live_value.h"
#include "resident/request.h"
#include "subsystem/shared/page_lock.h"

namespace anyperf::resident {

using engine::address_of;
using engine::kernel_call;
using subsystem::Source;

std::uint64_t own_value(const Thread& thread, const Source& source) {
    switch (source.kind) {
        case Source::Kind::counters: return live_value(source, thread.page.counters);
        case Source::Kind::task_clock:
        case Source::Kind::cpu_clock: return task_clock();
        case Source::Kind::page_faults: return thread.page.faults[0] + thread.page.faults[1];
        case Source::Kind::minor_faults: return thread.page.faults[0];
        case Source::Kind::major_faults: return thread.page.faults[1];
        default: return 0;
    }
}

bool can_tell(const Source& source) {
    switch (source.kind) {
        case Source::Kind::nothing:
        case Source::Kind::happenings:
        case Source::Kind::counters:
        case Source::Kind::task_clock:
        case Source::Kind::cpu_clock:
        case Source::Kind::page_faults:
        case Source::Kind::minor_faults:
        case Source::Kind::major_faults: return true;
        default: return false;
    }
}

bool is_own(const Thread& thread, const Process& process, const EventPage& event) {
    const auto alone = [&](const EventPage& member) {
        return member.thread_page == thread.page_number && member.has_children == 0 && member.leader == event.leader &&
               member.state >= subsystem::EventState::off && can_tell(member.source);
    };
    if (!alone(event)) return false;
    if ((event.shape.read_format & abi::read_format("PERF_FORMAT_GROUP")) == 0) return true;
    if (event.leader == 0 || event.leader >= kMaximumEvents) return false;
    const EventPage& leader = process.events[event.leader];
    EventIndex index = event.leader;
    for (std::uint32_t i = 0; i < leader.group_size; ++i) {
        if (index == 0 || index >= kMaximumEvents || !alone(process.events[index])) return false;
        index = process.events[index].next_in_group;
    }
    return true;
}

namespace {

/// One that was killed can be sent signals until its parent has fetched it.
bool has_no_memory(std::uint64_t tid) {
    char byte = 0;
    const iovec here{&byte, 1};
    const iovec there{nullptr, 1};
    return kernel_call(__NR_process_vm_readv, tid, address_of(&here), 1, address_of(&there), 1, 0) == -ESRCH;
}

}  // namespace

OwnLock::OwnLock(const Thread& thread, subsystem::PageLock& lock) : lock_(lock), me_(thread.tid) {
    subsystem::take(lock_, me_, [](std::int32_t holder) {
        kernel_call(__NR_sched_yield);
        const auto tid = static_cast<std::uint64_t>(holder);
        return kernel_call(__NR_tkill, tid, 0) == -ESRCH || has_no_memory(tid);
    });
}

OwnLock::~OwnLock() {
    subsystem::leave(lock_, me_);
}

}  // namespace anyperf::resident

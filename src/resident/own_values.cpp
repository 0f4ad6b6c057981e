// own_values.cpp: see own_values.h.
#include "resident/own_values.h"

#include "abi/sample_bits.h"
#include "resident/live_value.h"
#include "resident/lock_holder.h"
#include "resident/request.h"
#include "subsystem/shared/page_lock.h"

namespace anyperf::resident {

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

OwnLock::OwnLock(const Thread& thread, subsystem::PageLock& lock) : lock_(lock), me_(thread.tid) {
    subsystem::take(lock_, me_, yield_and_look_whether_gone);
}

OwnLock::~OwnLock() {
    subsystem::leave(lock_, me_);
}

}  // namespace anyperf::resident

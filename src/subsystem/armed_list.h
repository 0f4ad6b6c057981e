// armed_list.h: the list that a thread walks at its safe points: the events that count on it by what the thread itself
// keeps, or overflow there. It has them in whatever state, so that it changes only when events come and go; those that
// sample stand first, so that who looks for an overflow can stop behind them. EventPage::next_armed.
#pragma once

#include "abi/attr_flags.h"
#include "subsystem/shared/event_page.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Whether the event's own thread has to know it: it counts by what the thread itself keeps or makes, or overflows
/// there; or it records what only the thread sees.
inline bool concerns_thread(const EventPage& page) {
    if ((page.shape.flags & abi::flag("context_switch")) != 0) return true;
    switch (page.source.kind) {
        case Source::Kind::counters:
        case Source::Kind::happenings:
        case Source::Kind::page_faults:
        case Source::Kind::minor_faults:
        case Source::Kind::major_faults: return true;
        default: return page.sampling != 0;
    }
}

/// The event joins its task's list, or leaves it. Nothing where it does not concern the thread.
void join_armed(World& world, Event& event);
void leave_armed(World& world, Task& task, Event& event);
/// To the host, where the list begins and what the thread has to keep.
void tell_armed(World& world, const Task& task);

}  // namespace anyperf::subsystem

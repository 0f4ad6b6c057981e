// armed_list.h: what a thread is told of its events. Those that it has to look for itself stand in the list that it
// walks at its safe points (EventPage::next_armed), in whatever state, so that it changes only when events come and go;
// those that sample stand first, so that who looks for an overflow can stop behind them. All others only need something
// to be kept, and thousands of them need no more than one does: the thread is told what, and looks when that changes.
#pragma once

#include "abi/attr_flags.h"
#include "subsystem/shared/event_page.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Whether the event's own thread has to know it: it overflows there, counts what happens there, or records what only
/// the thread sees.
inline bool concerns_thread(const EventPage& page) {
    return page.sampling != 0 || page.source.kind == Source::Kind::happenings ||
           (page.shape.flags & abi::flag("context_switch")) != 0;
}

/// The event joins what its task's thread has to do, or leaves it.
void join_armed(World& world, Event& event);
void leave_armed(World& world, Task& task, Event& event);
/// To the host, where the list begins and what the thread has to keep.
void tell_armed(World& world, const Task& task);

}  // namespace anyperf::subsystem

// active_events.h: the active events of a thread: those that the thread itself must look after.
//
// "Active" is meant from the thread's side and does not depend on the EventState: the list has the events in whatever
// state, so that it changes only when events come and go. It has the events that overflow in the thread, those whose
// occurrences the thread adds up (tracepoints, breakpoints, uprobes), and those with context_switch, because only the
// thread itself sees its switches. The thread walks the list at its safepoints (EventPage::next_active). Events that
// sample come first, so that a search for overflows can stop after them.
//
// All other events only need live counters. The thread must keep the union of those counters, which is computed here.
// So an open costs the same beside ten thousand events as beside one.
#pragma once

#include "abi/attr_flags.h"
#include "subsystem/shared/event_page.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Whether the event belongs in its thread's list.
inline bool is_thread_active(const Event& event) {
    return event.samples() || event.source().kind == Source::Kind::occurrences ||
           event.flag(abi::flag("context_switch"));
}

/// Adds the event to its thread's work, or removes it. If that changes the work, a safepoint of the thread is
/// requested. A removed event has left its task already, so `task` is passed.
void add_active_event(World& world, Event& event);
void remove_active_event(World& world, Task& task, Event& event);
/// Passes the head of the list and the needed counters to the host.
void report_active_events(World& world, const Task& task);

}  // namespace anyperf::subsystem

// active_events.h: the walk over the active events of a thread, which the thread itself must look after: first those
// that sample, then those that count occurrences or record context switches (subsystem/scheduling/active_events.h).
//
// The broker writes the list (ThreadPage::first_active_event, EventPage::next_active) and the thread reads it. An event
// is in the list whatever its state is, so that enabling and disabling does not change the list; callers check `state`.
// After a change the broker requests a safepoint, at which the thread calls update_active_events().
#pragma once

#include "agent/process.h"

namespace anyperf::agent {

using engine::Thread;

/// Calls `each(event, index)` for the events of the thread's list, whatever their states are, until it returns false.
/// If the broker changes the list meanwhile, the walk may see only a part of it; the broker then requests another
/// safepoint. The walk ends after kMaximumEvents steps and checks each index, because the list is in memory that
/// programs can write.
template <class Each>
void visit_active_events(const Thread& thread, Each each) {
    Process* const process = existing_process(*thread.engine);
    if (process == nullptr) return;
    EventIndex index = __atomic_load_n(&thread.page.first_active_event, __ATOMIC_ACQUIRE);
    for (std::uint32_t steps = 0; index != 0 && process->events.contains(index) && steps < run::kMaximumEvents;
         ++steps) {
        EventPage& event = process->events[index];
        if (event.thread_page != thread.page_number || !each(event, index)) return;
        index = __atomic_load_n(&event.next_active, __ATOMIC_ACQUIRE);
    }
}

/// Calls `each(event, index)` for all events of the thread's list.
template <class Each>
void for_each_active_event(const Thread& thread, Each each) {
    visit_active_events(thread, [&](EventPage& event, EventIndex index) {
        each(event, index);
        return true;
    });
}

/// Calls `each(event, index)` for the events that sample, which are the first of the list.
template <class Each>
void for_each_sampling_event(const Thread& thread, Each each) {
    visit_active_events(thread, [&](EventPage& event, EventIndex index) {
        if (event.sampling == 0) return false;
        each(event, index);
        return true;
    });
}

}  // namespace anyperf::agent

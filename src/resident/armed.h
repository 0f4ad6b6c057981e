// armed.h: the events that count on a thread: what the engine has to count for them, and how far the thread may run
// before one of them overflows.
#pragma once

#include "resident/process.h"

namespace anyperf::resident {

using engine::Thread;

/// Calls `each` with the events of the thread's list, in whatever state, until it says false. A list that the broker
/// changes meanwhile may be seen in part; then `attention` is set again. Its length is bounded, whatever stands there.
template <class Each>
void while_armed(const Thread& thread, Each each) {
    Process* const process = known_process(*thread.engine);
    if (process == nullptr) return;
    EventIndex index = __atomic_load_n(&thread.page.first_armed, __ATOMIC_ACQUIRE);
    for (std::uint32_t steps = 0; index != 0 && index < kMaximumEvents && steps < kMaximumEvents; ++steps) {
        EventPage& event = process->events[index];
        if (event.thread_page != thread.page_number || !each(event, index)) return;
        index = __atomic_load_n(&event.next_armed, __ATOMIC_ACQUIRE);
    }
}

/// All of them.
template <class Each>
void for_each_armed(const Thread& thread, Each each) {
    while_armed(thread, [&](EventPage& event, EventIndex index) {
        each(event, index);
        return true;
    });
}

/// Those that sample: the first of the list.
template <class Each>
void for_each_sampling(const Thread& thread, Each each) {
    while_armed(thread, [&](EventPage& event, EventIndex index) {
        if (event.sampling == 0) return false;
        each(event, index);
        return true;
    });
}

/// The thread's list may have changed: counts what its events need, and grants what is left to the next overflow.
void settle(Thread& thread);

/// Of ThreadPage::traced, behind the bits of Happenings: an event samples what system calls add to
/// (Source::call_terms).
inline constexpr std::uint32_t kCallsSampled = 1u << 17;

/// A system call has retired: the application goes no further before its events have been looked at.
void look_behind_call(Thread& thread);

/// The grant has ended: what overflows here does, then the next one.
void next_grant(Thread& thread);

}  // namespace anyperf::resident

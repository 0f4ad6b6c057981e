// local_read.h: local reads: the current values of a thread's events, read by that thread itself from its live
// counters, its page and the kernel's accounting, without a request to the broker. An event can be read so if nothing
// but this thread contributes to its count.
#pragma once

#include <cstdint>

#include "agent/process.h"
#include "run/tuple_counts.h"

namespace anyperf::agent {

using engine::Thread;

/// The current value of a source of this thread. For migrations it is the value that the broker read last.
std::uint64_t local_value(const Thread& thread, const subsystem::Source& source);
/// The same for several sources, of which many name the same classes. `counts`: those of this thread, made for this.
std::uint64_t local_value(const Thread& thread, const subsystem::Source& source, run::CountsOfMoment& counts);

/// The cost of what the thread has retired, system calls apart, in units of 1 / engine::x86_64::kCostUnits cycle.
std::uint64_t modelled_cost(const Thread& thread);

/// Whether the thread itself knows the source's value. If not, the broker keeps it (migrations).
bool has_local_value(const subsystem::Source& source);

/// Whether the event counts this thread. Where an event's page is in another user's memory, this process sees zeros
/// there, and an event that exists has an id.
inline bool is_counted_on(const Thread& thread, const EventPage& page) {
    return page.id != 0 && page.thread_page == thread.page_number;
}

/// Whether read(2) of the event can be answered by this thread alone: the event counts this thread and no other, it has
/// no inherited children, and the same is true of its whole group where the group is read.
bool is_locally_readable(const Thread& thread, const Process& process, const EventPage& event);

/// Holds a page's lock for a scope, with this thread as the holder. Takes the lock over from a holder that has died.
/// Waits for a living holder, but not for ever: a stopped thread, or a page that a program has overwritten, must not
/// stop this thread.
class PageLockGuard {
  public:
    PageLockGuard(const Thread& thread, subsystem::PageLock& lock);
    ~PageLockGuard();
    PageLockGuard(const PageLockGuard&) = delete;
    PageLockGuard& operator=(const PageLockGuard&) = delete;

    /// False: another thread has held the lock for too long (run::kLockPatienceNs).
    explicit operator bool() const { return held_; }

  private:
    subsystem::PageLock& lock_;
    std::int32_t me_;
    bool held_ = false;
};

}  // namespace anyperf::agent

// own_values.h: what a thread's own events say now, from the thread itself: its live counters, and the kernel's books
// of it. No message is needed for that.
#pragma once

#include <cstdint>

#include "resident/process.h"

namespace anyperf::resident {

using engine::Thread;

/// The value of a source of this thread. Precondition: can_tell(source).
std::uint64_t own_value(const Thread& thread, const subsystem::Source& source);

/// Whether the thread itself knows the source's value; else only the broker does.
bool can_tell(const subsystem::Source& source);

/// Whether an event's result is known from this thread alone: it counts this thread and no other, and so does its whole
/// group where that is read.
bool is_own(const Thread& thread, const Process& process, const EventPage& event);

/// Takes a page's lock in this thread, for a scope.
class OwnLock {
  public:
    OwnLock(const Thread& thread, subsystem::PageLock& lock);
    ~OwnLock();
    OwnLock(const OwnLock&) = delete;
    OwnLock& operator=(const OwnLock&) = delete;

  private:
    subsystem::PageLock& lock_;
    std::int32_t me_;
};

}  // namespace anyperf::resident

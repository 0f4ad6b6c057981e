// page_lock.h: locks and unlocks a PageLock.
//
// Locks that outlive their holders
//
// The problem: event pages and rings are in memory that the broker shares with all programs of a run. A holder may be a
// thread of another process and may be killed at any instruction. Programs can write the lock themselves. Yet no one
// may wait for ever: the broker serves all programs, and a measured thread must go on. The kernel's answer to dead
// holders, robust futexes (set_robust_list(2)), was rejected: a thread has one list, which belongs to its libc. That
// the broker makes all changes was rejected, too: each sample would be a request.
//
// The mechanism: the lock is a word with the holder's thread id, 0 if it is free, and changes only by compare and swap.
// A waiter yields, checks now and then whether the holder still lives, and takes the lock over if not: it replaces
// exactly the id that it has seen, so of several waiters one succeeds. What the dead holder left half done is at worst
// a record that was not committed or a count that is off, never a page that can't be used.
//
// The two edges:
// - A holder that lives does not block the others for ever either: it may be stopped (SIGSTOP, a debugger), or a
//   program may have written its id there. Both sides wait 10 ms of their own CPU time at most (run/lock_holder.h). A
//   thread then does without the lock: it asks the broker instead of toggling, drops a record, and changes its event's
//   count and period all the same. The broker takes over an event's lock, and leaves out a record that it cannot write.
// - A holder whose lock was taken over may come back. unlock_page() frees the lock only if it still has the holder's
//   own id.
//
// The order in which locks are taken is in engine/freestanding/lock.h.
//
// What it can't do: distinguish a program that lies about a holder from one that is slow. Such a program delays others
// by 10 to 100 ms and spoils the counts of its own run, nothing else.
//
// Freestanding. Not recursive. A signal handler that may interrupt a holder on its own thread must not lock.
#pragma once

#include <cstdint>

#include "subsystem/shared/event_page.h"

namespace anyperf::subsystem {

/// Locks for `me`, a thread id above 0, if the lock is free.
inline bool try_lock_page(PageLock& lock, std::int32_t me) {
    std::int32_t expected = 0;
    return __atomic_compare_exchange_n(&lock.holder, &expected, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/// Locks for `me`. Between tries it calls `is_abandoned(holder)`, which yields or sleeps and returns whether that
/// holder will never unlock. If the holder's id is `me`, a dead thread of the same id has left the lock: thread ids are
/// reused. The lock is then taken over at once.
template <class Abandoned>
void lock_page(PageLock& lock, std::int32_t me, Abandoned&& is_abandoned) {
    while (!try_lock_page(lock, me)) {
        std::int32_t holder = __atomic_load_n(&lock.holder, __ATOMIC_RELAXED);
        if (holder == 0 || (holder != me && !is_abandoned(holder))) continue;
        if (__atomic_compare_exchange_n(&lock.holder, &holder, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
    }
}

/// What is known of the thread that has a lock.
enum class HolderState : std::uint8_t {
    lives,
    gone,      ///< it will never unlock
    too_slow,  ///< it lives, but has had the lock for longer than the caller wants to wait
};

/// As lock_page(), but `check(holder)` may also end the wait. Returns whether the lock is held.
template <class Check>
bool lock_page_or_give_up(PageLock& lock, std::int32_t me, Check&& check) {
    while (!try_lock_page(lock, me)) {
        std::int32_t holder = __atomic_load_n(&lock.holder, __ATOMIC_RELAXED);
        if (holder == 0) continue;
        const HolderState state = holder == me ? HolderState::gone : check(holder);
        if (state == HolderState::too_slow) return false;
        if (state == HolderState::gone &&
            __atomic_compare_exchange_n(&lock.holder, &holder, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return true;
    }
    return true;
}

/// Unlocks, unless a waiter has taken the lock over meanwhile.
inline void unlock_page(PageLock& lock, std::int32_t me) {
    __atomic_compare_exchange_n(&lock.holder, &me, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/// Holds a lock for a scope.
class ScopedPageLock {
  public:
    template <class Abandoned>
    ScopedPageLock(PageLock& lock, std::int32_t me, Abandoned&& is_abandoned) : lock_(lock), me_(me) {
        lock_page(lock, me, is_abandoned);
    }
    ~ScopedPageLock() { unlock_page(lock_, me_); }
    ScopedPageLock(const ScopedPageLock&) = delete;
    ScopedPageLock& operator=(const ScopedPageLock&) = delete;

  private:
    PageLock& lock_;
    std::int32_t me_;
};

}  // namespace anyperf::subsystem

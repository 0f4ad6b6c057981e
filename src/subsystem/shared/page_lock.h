// page_lock.h: how a PageLock is taken and left. Its holder may be a thread of another process and may be killed at any
// instruction, so who waits asks now and then whether the holder is gone, and then goes on in its place. What such a
// holder left half done is at worst a record that was not committed, or a count that is off: never a broken page.
//
// Freestanding. Not recursive. A signal handler that could run while its own thread holds a lock may not take one.
#pragma once

#include <cstdint>

#include "subsystem/shared/event_page.h"

namespace anyperf::subsystem {

/// Takes it for `me`, a thread id above 0, unless another has it.
inline bool try_take(PageLock& lock, std::int32_t me) {
    std::int32_t nobody = 0;
    return __atomic_compare_exchange_n(&lock.holder, &nobody, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

/// Returns with the lock held by `me`. `abandoned(holder)` is called between tries: it gives way (yields, sleeps), and
/// says whether this holder will never leave. A lock that `me` seems to have already was left by a dead thread of the
/// same id; it is not asked about.
template <class Abandoned>
void take(PageLock& lock, std::int32_t me, Abandoned&& abandoned) {
    while (!try_take(lock, me)) {
        std::int32_t holder = __atomic_load_n(&lock.holder, __ATOMIC_RELAXED);
        if (holder == 0 || (holder != me && !abandoned(holder))) continue;
        if (__atomic_compare_exchange_n(&lock.holder, &holder, me, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
    }
}

/// Leaves it, unless somebody has gone on in our place.
inline void leave(PageLock& lock, std::int32_t me) {
    __atomic_compare_exchange_n(&lock.holder, &me, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

/// Holds a lock for a scope.
class PageHeld {
  public:
    template <class Abandoned>
    PageHeld(PageLock& lock, std::int32_t me, Abandoned&& abandoned) : lock_(lock), me_(me) {
        take(lock, me, abandoned);
    }
    ~PageHeld() { leave(lock_, me_); }
    PageHeld(const PageHeld&) = delete;
    PageHeld& operator=(const PageHeld&) = delete;

  private:
    PageLock& lock_;
    std::int32_t me_;
};

}  // namespace anyperf::subsystem

// lock_holder.h: finds out whether the holder of a PageLock (subsystem/shared/page_lock.h) has died and will never
// release it. Threads of a run and the broker use it. Thread ids are those of the caller's pid namespace.
#pragma once

#include <errno.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>

#include <cstdint>

#include "run/kernel_call.h"
#include "subsystem/shared/page_lock.h"

namespace anyperf::run {

/// Yields the CPU, then returns whether the thread `holder` is gone. tkill(2) succeeds for a zombie until its parent
/// has reaped it, and the parent may be waiting for this very lock. But a zombie has no memory any more, so reading
/// from it fails with ESRCH.
inline bool yield_and_check_gone(std::int32_t holder) {
    kernel_call(__NR_sched_yield);
    const auto tid = static_cast<std::uint64_t>(holder);
    if (kernel_call(__NR_tkill, tid, 0) == -ESRCH) return true;
    char byte = 0;
    const iovec here{&byte, 1};
    const iovec there{nullptr, 1};
    return kernel_call(__NR_process_vm_readv, tid, address_of(&here), 1, address_of(&there), 1, 0) == -ESRCH;
}

/// PageLock::holder of the broker. No thread has this id in any pid namespace (PID_MAX_LIMIT is 2^22). The broker's own
/// id would mean nothing, or another process, to a program in a pid namespace of its own.
inline constexpr std::int32_t kBrokerHolder = 0x7fffffff;

/// How long a waiter waits for a holder that lives. Holders need microseconds. One that needs longer is stopped, or
/// does not exist because a program has overwritten the page, or waits for a CPU. Of a busy machine's CPUs the waiter
/// gets as little as the holder, so what counts is the waiter's own CPU time: at a load of 8 on two CPUs 5 to 20 % of
/// large records were dropped when it was the time that had passed. That has a limit, too.
inline constexpr std::int64_t kLockPatienceNs = 10'000'000, kLongestWaitNs = 10 * kLockPatienceNs;

/// Limits one wait for a lock.
class LockPatience {
  public:
    /// Yields the CPU, then returns the state of the holder.
    subsystem::HolderState check(std::int32_t holder) {
        if (holder == kBrokerHolder)
            kernel_call(__NR_sched_yield);
        else if (yield_and_check_gone(holder))
            return subsystem::HolderState::gone;
        return is_over() ? subsystem::HolderState::too_slow : subsystem::HolderState::lives;
    }
    /// Whether the wait has taken too long. It begins with the first call.
    bool is_over() {
        const std::int64_t time = now(CLOCK_MONOTONIC), own = now(CLOCK_THREAD_CPUTIME_ID);
        if (began_ns_ == 0) {
            began_ns_ = time;
            own_began_ns_ = own;
        }
        return own - own_began_ns_ >= kLockPatienceNs || time - began_ns_ >= kLongestWaitNs;
    }

  private:
    static std::int64_t now(clockid_t clock) {
        timespec read{};
        kernel_call(__NR_clock_gettime, static_cast<std::uint64_t>(clock), address_of(&read));
        return read.tv_sec * 1'000'000'000 + read.tv_nsec;
    }

    std::int64_t began_ns_ = 0, own_began_ns_ = 0;
};

}  // namespace anyperf::run

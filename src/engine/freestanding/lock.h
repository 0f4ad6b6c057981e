// lock.h: mutual exclusion between the threads of one process: one word, and the kernel's futex when it is contended.
//
// The order of locks
//
// The problem: while a thread holds one of these locks, another thread may need it, and a signal handler, a fork or the
// death of the process may come at any instruction. Blocking all signals around each lock was rejected: it would cost
// two system calls each time. And the engine's own signals (kEngineSignals) cannot be blocked: a fault while SIGSEGV is
// blocked ends the process. Only while two processes share the memory are the others blocked (see below).
//
// A thread that holds a lock takes only locks further down in this list:
//   1. ProbedPlaces::lock and PythonCode::lock of the agent: where uprobes are in this process's memory; which Python
//      code the broker knows.
//   2. Cache::lock: everything in Engine that threads share: translations, links, executable memory, protected code,
//      breakpoints, the list of threads.
//   3. Page locks (subsystem/shared/page_lock.h), which are in the run memory and shared with the broker and with other
//      processes: a group's, then an event's, then a ring's.
//   4. Process::lock of the agent: descriptors, mapped rings. It is also taken under an event's lock, to map its ring.
//   5. OwnPages::lock_ and SignalActions::lock_: leaves. Mapping memory for the engine takes the first one.
//
// The signal handler takes no lock, with one exception: a write fault on protected code takes Cache::lock
// (signals/handler.cpp, handle_code_write()). This cannot deadlock. The fault was raised by the application's code or
// by a guarded copy, which run without Cache::lock. The handler only tries to take the lock, and yields in between. If
// the holder is flushing the cache and waits for this very thread, the thread leaves translated code first. Of other
// data the handler reads only what its own thread changes, what its own thread has locked (under guarded_run()), and
// what is only appended to while the thread is in translated code (Cache::block_at_host()).
//
// The edges:
// - fork: the child has one thread, so a lock that another thread held would stay locked. Cache::lock and the leaves
//   (5) are held across the fork, so what they protect is consistent in the child. The locks of the process are reset
//   there.
// - death: the locks of a process end with it. A page lock outlives its holder, so a waiter checks whether the holder
//   still exists and takes the lock over.
// - death of a process that shares its memory with another one, as the child of a vfork does: the other one needs the
//   locks. So while memory is shared (begin_sharing()), a holder blocks all signals that could end its process.
//   Otherwise the parent of a shell's child that Ctrl-C ends between vfork and execve would wait for ever.
//
// What it can't do: SIGKILL can't be blocked. If it meets such a child while it holds a lock, the parent waits for
// ever. Lock 4 is not held across a fork. If another thread was changing what it protects, the child finds it half
// changed: at worst, the child does not know a descriptor or a ring.
#pragma once

#include <linux/futex.h>

#include <cstdint>

#include "engine/freestanding/kernel.h"
#include "engine/freestanding/signal_set.h"

namespace anyperf::engine {

/// Not recursive, not fair. A thread unlocks what it has locked in reverse order.
class Lock {
  public:
    void lock() {
        const KernelMask before = block_ending_signals();
        std::uint32_t expected = kFree;
        if (!__atomic_compare_exchange_n(&state_, &expected, kTaken, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            while (__atomic_exchange_n(&state_, kContended, __ATOMIC_ACQUIRE) != kFree)
                kernel_call(__NR_futex, address_of(&state_), FUTEX_WAIT_PRIVATE, kContended);
        }
        before_ = before;
    }

    /// Takes the lock if it is free. Never waits.
    bool try_lock() {
        const KernelMask before = block_ending_signals();
        std::uint32_t expected = kFree;
        if (__atomic_compare_exchange_n(&state_, &expected, kTaken, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
            before_ = before;
            return true;
        }
        restore(before);
        return false;
    }

    void unlock() {
        const KernelMask before = before_;
        if (__atomic_exchange_n(&state_, kFree, __ATOMIC_RELEASE) == kContended)
            kernel_call(__NR_futex, address_of(&state_), FUTEX_WAKE_PRIVATE, 1);
        restore(before);
    }

    /// Frees the lock in a fork's child, which does not have the thread that held it. Precondition: the caller blocks
    /// all signals and sets the mask itself.
    void reset() { state_ = kFree; }

    /// Another process begins to share this memory, or has ended or left it by an execve(2).
    static void begin_sharing() { __atomic_fetch_add(&sharers_, 1, __ATOMIC_SEQ_CST); }
    static void end_sharing() { __atomic_fetch_sub(&sharers_, 1, __ATOMIC_SEQ_CST); }
    /// In a fork's child: its copy of the memory is its own.
    static void forget_sharers() { __atomic_store_n(&sharers_, 0, __ATOMIC_SEQ_CST); }

  private:
    static constexpr std::uint32_t kFree = 0;
    static constexpr std::uint32_t kTaken = 1;
    static constexpr std::uint32_t kContended = 2;  ///< taken, and some thread may be waiting in the kernel

    /// The thread's mask in the kernel before it took the lock, if that has changed it.
    struct KernelMask {
        bool is_changed = false;
        std::uint64_t mask = 0;
    };

    static KernelMask block_ending_signals() {
        if (__atomic_load_n(&sharers_, __ATOMIC_RELAXED) == 0) [[likely]]
            return {};
        constexpr unsigned kBlock = 0;
        constexpr std::uint64_t kEnding = ~kEngineSignals;
        KernelMask before{true, 0};
        kernel_call(__NR_rt_sigprocmask, kBlock, address_of(&kEnding), address_of(&before.mask), sizeof kEnding);
        return before;
    }
    static void restore(const KernelMask& before) {
        if (!before.is_changed) [[likely]]
            return;
        constexpr unsigned kSetMask = 2;
        kernel_call(__NR_rt_sigprocmask, kSetMask, address_of(&before.mask), 0, sizeof before.mask);
    }

    constinit static inline std::uint32_t sharers_ = 0;  ///< processes that share this memory, besides the first one
    std::uint32_t state_ = kFree;
    KernelMask before_;  ///< of the holder
};

/// Holds a Lock for a scope.
class LockGuard {
  public:
    explicit LockGuard(Lock& lock) : lock_(lock) { lock_.lock(); }
    ~LockGuard() { lock_.unlock(); }
    LockGuard(const LockGuard&) = delete;
    LockGuard& operator=(const LockGuard&) = delete;

  private:
    Lock& lock_;
};

}  // namespace anyperf::engine

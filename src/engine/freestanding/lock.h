// lock.h: mutual exclusion between threads of the engine: one word, the kernel's futex when contended. Safe to take on
// any thread with signals delivered, because the engine's signal handler never takes one.
#pragma once

#include <linux/futex.h>

#include <cstdint>

#include "engine/freestanding/kernel.h"

namespace anyperf::engine {

class Lock {
  public:
    void take() {
        std::uint32_t expected = kFree;
        if (__atomic_compare_exchange_n(&state_, &expected, kTaken, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
        while (__atomic_exchange_n(&state_, kContended, __ATOMIC_ACQUIRE) != kFree)
            kernel_call(__NR_futex, address_of(&state_), FUTEX_WAIT_PRIVATE, kContended);
    }

    /// False where somebody has it.
    bool try_take() {
        std::uint32_t expected = kFree;
        return __atomic_compare_exchange_n(&state_, &expected, kTaken, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
    }

    void leave() {
        if (__atomic_exchange_n(&state_, kFree, __ATOMIC_RELEASE) == kContended)
            kernel_call(__NR_futex, address_of(&state_), FUTEX_WAKE_PRIVATE, 1);
    }

    /// In a fork's child, where the thread that held it does not exist.
    void reset() { state_ = kFree; }

  private:
    static constexpr std::uint32_t kFree = 0;
    static constexpr std::uint32_t kTaken = 1;
    static constexpr std::uint32_t kContended = 2;
    std::uint32_t state_ = kFree;
};

/// Holds a Lock for a scope.
class Held {
  public:
    explicit Held(Lock& lock) : lock_(lock) { lock_.take(); }
    ~Held() { lock_.leave(); }
    Held(const Held&) = delete;
    Held& operator=(const Held&) = delete;

  private:
    Lock& lock_;
};

}  // namespace anyperf::engine

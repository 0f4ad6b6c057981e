// suspended_stacks.h: the open calls of stacks that a thread has left and may come back to: those of coroutines, fibers
// and userland threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// The open calls of a stack, the innermost first.
struct StackOfCalls {
    static constexpr std::size_t kMost = 128;  ///< a sample has no more callers
    /// So far above its outermost call a stack may begin, and so far below its innermost call rsp may be in a frame.
    static constexpr std::uint64_t kMargin = 4096;

    std::uint64_t kept_at;  ///< the larger, the later it was put aside
    std::size_t count;      ///< 0: this place is free
    OpenCall calls[kMost];

    void append(const OpenCall& call) {
        if (count < kMost) calls[count++] = call;
    }
    /// Whether these are calls of a stack that also has the memory from `low` to `high`.
    bool is_near(std::uint64_t low, std::uint64_t high) const {
        return count != 0 && high + kMargin >= lowest() && low <= highest() + kMargin;
    }
    std::uint64_t lowest() const { return calls[0].caller_rsp; }
    std::uint64_t highest() const { return calls[count - 1].caller_rsp; }
};

/// As many stacks as have room; of more the one that was left first is forgotten.
struct SuspendedStacks {
    static constexpr std::size_t kMost = 256;
    std::uint64_t times_kept;
    std::size_t used;  ///< all places from here on are free
    StackOfCalls stacks[kMost];

    /// An empty place.
    StackOfCalls& begin();
    /// The place has the calls of a stack. Of what was known of the same stack before, only the calls above these are
    /// still open.
    void keep(StackOfCalls& stack);
    /// The stack that `rsp` is on; of several the one that was left last. Null if none is known.
    StackOfCalls* find(std::uint64_t rsp);
};

/// Those of the thread; null if there is no memory.
SuspendedStacks* suspended_stacks(Thread& thread);
/// Before the thread's memory is freed.
void release_suspended_stacks(Thread& thread);

}  // namespace anyperf::engine

// state.h: a thread's signals: what it blocks, what waits to be delivered, its alternate stack.
#pragma once

#include <cstdint>

#include "engine/signals/actions.h"
#include "engine/x86_64/signal_frame.h"

namespace anyperf::engine {

/// A signal that the kernel has given to the engine and the application has not seen.
struct QueuedSignal {
    x86_64::SignalInfo info;
    std::uint64_t err = 0;  ///< of a fault: the rest of what sigcontext tells
    std::uint64_t trapno = 0;
    std::uint64_t cr2 = 0;
    bool synchronous = false;  ///< raised by the instruction at the application's rip
};

struct SignalState {
    /// At most one signal at a time is taken from the kernel for delivery, because the handler leaves all blocked; the
    /// others are the engine's own signals, that came by kill(2) while the application blocks them.
    static constexpr unsigned kQueue = 8;

    SignalActions* actions = nullptr;
    std::uint64_t mask = 0;        ///< what the application blocks, as it thinks
    std::uint64_t saved_mask = 0;  ///< to be restored when sigsuspend and its like are done
    bool restore_mask = false;
    bool clear_handlers = false;  ///< of a new process: it begins without its parent's
    QueuedSignal queue[kQueue];
    unsigned queued = 0;
    x86_64::SignalStack stack;    ///< sigaltstack(2); flags SS_DISABLE where there is none
    x86_64::XstateNote xstate{};  ///< how this kernel lays out vector state, from its last frame
};

}  // namespace anyperf::engine

// signal_state.h: the state of a thread's signals: its mask, the queue of signals that are not delivered yet, its
// alternate stack.
#pragma once

#include <cstdint>

#include "engine/signals/actions.h"
#include "engine/x86_64/cpu/signal_frame.h"

namespace anyperf::engine {

/// A signal that the kernel has delivered to the engine, and that the engine has not yet delivered to the application.
struct QueuedSignal {
    x86_64::SignalInfo info;
    std::uint64_t err = 0;  ///< of a fault: further fields of sigcontext
    std::uint64_t trapno = 0;
    std::uint64_t cr2 = 0;
    bool synchronous = false;  ///< raised by the instruction at the application's rip
};

struct SignalState {
    /// Places in the queue. The handler returns with all signals but kEngineSignals blocked, so at most one other
    /// signal waits for its delivery. The rest of the places are for kEngineSignals that come by kill(2) while the
    /// application blocks them.
    static constexpr unsigned kQueue = 8;

    SignalActions* actions = nullptr;
    std::uint64_t mask = 0;        ///< the signals that the application blocks; the kernel's mask lacks kEngineSignals
    std::uint64_t saved_mask = 0;  ///< the mask to restore after sigsuspend and the like, while `restore_mask`
    bool restore_mask = false;
    std::uint64_t awaited = 0;    ///< of kEngineSignals, those that sigtimedwait(2) waits for
    bool clear_handlers = false;  ///< a new task begins without its parent's handlers (CLONE_CLEAR_SIGHAND)
    QueuedSignal queue[kQueue];
    unsigned queued = 0;
    x86_64::SignalStack stack;       ///< sigaltstack(2); its flags are SS_DISABLE if none is set
    x86_64::XstateNote xstate{};     ///< the kernel's layout of vector state, from its last frame; zero without XSAVE
    std::uint32_t handler_pkru = 0;  ///< the kernel's initial PKRU, as the last handler found it

    /// Whether the application blocks the signal.
    bool blocks(int signal) const { return (mask & signal_bit(signal)) != 0; }
    /// Whether the alternate stack has this stack pointer.
    bool stack_holds(std::uint64_t sp) const { return sp > stack.sp && sp - stack.sp <= stack.size; }
    /// Whether the application runs on its alternate stack. One with SS_AUTODISARM does not count (on_sig_stack() in
    /// include/linux/sched/signal.h).
    bool on_alternate_stack(std::uint64_t sp) const {
        constexpr std::int32_t kAutoDisarm = INT32_MIN;
        return (stack.flags & kAutoDisarm) == 0 && stack_holds(sp);
    }
};

/// Whether a queued signal may be delivered now.
inline bool has_deliverable(const SignalState& signals) {
    for (unsigned i = 0; i < signals.queued; ++i)
        if (signals.queue[i].synchronous || !signals.blocks(signals.queue[i].info.signo)) return true;
    return false;
}

}  // namespace anyperf::engine

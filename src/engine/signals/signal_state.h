// signal_state.h: the state of a thread's signals: its mask, the queue of signals that are not delivered yet, its
// alternate stack.
#pragma once

#include <cstdint>

#include "engine/signals/actions.h"
#include "engine/signals/signal_queue.h"
#include "engine/x86_64/cpu/signal_frame.h"

namespace anyperf::engine {

struct SignalState {
    SignalActions* actions = nullptr;
    std::uint64_t mask = 0;        ///< the signals that the application blocks; the kernel's mask lacks kEngineSignals
    std::uint64_t saved_mask = 0;  ///< the mask to restore after sigsuspend and the like, while `restore_mask`
    bool restore_mask = false;
    std::uint64_t awaited = 0;    ///< of kEngineSignals, those that sigtimedwait(2) waits for
    std::uint64_t shown = 0;      ///< of kEngineSignals, those that the thread's call may see by a signalfd(2)
    bool clear_handlers = false;  ///< a new task begins without its parent's handlers (CLONE_CLEAR_SIGHAND)
    SignalQueue queue;
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
    return signals.queue.has(
        [&](const QueuedSignal& signal) { return signal.synchronous || !signals.blocks(signal.info.signo); });
}

}  // namespace anyperf::engine

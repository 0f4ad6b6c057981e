// deliver.h: delivers queued signals to the application at safepoints, where its registers are known, and returns from
// its handlers. handler.cpp explains how a signal gets into the queue.
#pragma once

#include "engine/engine.h"
#include "engine/signals/signal_state.h"

namespace anyperf::engine {

/// A safepoint: serves the requests for the agent, delivers the queued signals that are not blocked, sets the
/// application's mask in the kernel, and enters the application. Precondition: the thread is on the engine's stack, and
/// all signals but kEngineSignals are blocked in the kernel.
[[noreturn]] void deliver_and_resume(Thread& thread);

/// Ends this process by the default action of `signal`.
[[noreturn]] void die_by(int signal);

/// rt_sigreturn(2): returns from the application's handler. Its frame is at the application's stack pointer.
[[noreturn]] void return_from_handler(Thread& thread);

/// Sets the kernel's mask to the application's, without kEngineSignals.
void apply_mask(const SignalState& signals);

/// Sets the application's alternate stack as sigaltstack(2) does. Returns 0 or a negated errno.
long set_alternate_stack(SignalState& signals, x86_64::SignalStack wanted);

}  // namespace anyperf::engine

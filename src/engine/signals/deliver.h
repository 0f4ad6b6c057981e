// deliver.h: gives the application the signals that wait for it, at a place where its registers are known.
#pragma once

#include "engine/engine.h"
#include "engine/signals/state.h"

namespace anyperf::engine {

/// Delivers what is queued and not blocked, then goes on with the application. On the engine's stack, all signals but
/// the engine's own blocked in the kernel; they are as the application wants them when it goes on.
[[noreturn]] void deliver_and_resume(Thread& thread);

/// Ends this process by `signal` as if nobody had handled it.
[[noreturn]] void die_by(int signal);

/// Returns from the application's handler: the frame stands at the application's stack pointer (rt_sigreturn(2)).
[[noreturn]] void return_from_handler(Thread& thread);

/// Tells the kernel what the application blocks.
void apply_mask(const SignalState& signals);

/// Whether a queued signal may be delivered now.
bool has_deliverable(const SignalState& signals);

/// Whether the application's stack pointer is on its alternate stack.
bool on_alternate_stack(const SignalState& signals, std::uint64_t sp);

}  // namespace anyperf::engine

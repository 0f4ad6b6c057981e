// frame.h: the frame that a handler of the application finds on its stack, as the kernel would have made it
// (arch/x86/kernel/signal_64.c of Linux 6.18, x64_setup_rt_frame).
#pragma once

#include "engine/engine.h"
#include "engine/signals/state.h"

namespace anyperf::engine {

/// Pushes a frame for `signal` and makes the registers those of the handler's first instruction. False where the stack
/// can't be written; then nothing has changed.
bool push_signal_frame(Thread& thread, const QueuedSignal& signal, const SignalAction& action,
                       std::uint64_t saved_mask);

/// The vector registers as a handler finds them: as after a reset (fpu__clear_user_states).
void reset_vector_state(const SignalState& signals);

}  // namespace anyperf::engine

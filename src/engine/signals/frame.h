// frame.h: builds the frame that a handler of the application finds on its stack, as the kernel does
// (x64_setup_rt_frame() in arch/x86/kernel/signal_64.c of Linux 6.18).
#pragma once

#include "engine/engine.h"
#include "engine/signals/signal_state.h"

namespace anyperf::engine {

/// Pushes a frame for `signal` and makes the registers those of the handler's first instruction. `saved_mask`: the mask
/// that the handler's return restores. False if the stack can't be written; then the thread has not changed.
bool push_signal_frame(Thread& thread, const QueuedSignal& signal, const SignalAction& action,
                       std::uint64_t saved_mask);

/// Sets the vector registers and protection-key rights to those with which a handler begins: reset registers, and the
/// kernel's initial PKRU (fpu__clear_user_states()).
void reset_vector_state(const Thread& thread);

}  // namespace anyperf::engine

// sent_signals.h: what a signal that a thread of the run sends to another one changes in the order of turns.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine::turns {

// The receiver sleeps in the kernel, which wakes it when the signal is sent. If the receiver became ready only then, by
// itself or by the sender, it would depend on which of the two is faster how its wait ends. So the sender makes it
// ready before the kernel sends the signal: expect_signal(), the call, note_signal(). A receiver that is ready for
// nothing, since the kernel has refused the signal, waits again.

/// The calling thread is about to send process `pid`, or its thread `tid` (0: any), the signal `signal`. `preferred`:
/// the shown id of the thread of the process that gets it if it does not block it; 0: the first one.
void expect_signal(Thread& thread, std::int32_t pid, std::int32_t tid, int signal, std::int32_t preferred = 0);
/// The signal was sent. If it ends the process, awaits that.
void note_signal(Thread& thread, std::int32_t pid, std::int32_t tid, int signal);

}  // namespace anyperf::engine::turns

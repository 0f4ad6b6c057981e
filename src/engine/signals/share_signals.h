// share_signals.h: gives the kept signals of a process (process_signals.h) to threads that want them.
#pragma once

#include <cstdint>

#include "engine/x86_64/cpu/signal_frame.h"
#include "engine/x86_64/cpu/thread.h"

namespace anyperf::engine {

/// Whether a signal is kept for the process that the thread does not block.
bool has_process_signal(const x86_64::Thread& thread);

/// The signals that are kept for the thread or its process, and that the thread blocks, as a set.
std::uint64_t kept_signals(const x86_64::Thread& thread);

/// Queues the process's signals that this thread does not block, and sends the others to threads that do not block
/// them or wait for them. Those that no thread wants are kept. Takes the cache's lock.
void share_process_signals(x86_64::Thread& thread);

/// Takes a signal of the set that the engine keeps for this thread or its process, as sigtimedwait(2) does. `out`:
/// where the program wants its siginfo; 0: nowhere. Returns its number, 0 if no such signal is kept, or -EFAULT.
long take_kept_signal(x86_64::Thread& thread, std::uint64_t set, std::uint64_t out);

/// Gives the kernel the signals that are kept for this thread and its process, before an execve(2), which keeps pending
/// signals. kEngineSignals are blocked in the kernel from here on; apply_mask() ends that if the execve fails.
void give_kept_signals_to_kernel(x86_64::Thread& thread);

/// In the child of a fork: it begins without pending signals.
void drop_pending_signals(x86_64::Thread& thread);

}  // namespace anyperf::engine

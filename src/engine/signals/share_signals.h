// share_signals.h: gives the kept signals of a process (process_signals.h) to threads that want them.
#pragma once

#include <cstdint>

#include "engine/x86_64/cpu/signal_frame.h"
#include "engine/x86_64/cpu/thread.h"

namespace anyperf::engine {

/// Whether a signal is kept for the process that the thread does not block.
bool has_process_signal(const x86_64::Thread& thread);

/// Queues the process's signals that this thread does not block, and sends the others to threads that do not block
/// them or wait for them. Those that no thread wants are kept. Takes the cache's lock.
void share_process_signals(x86_64::Thread& thread);

/// Takes a signal of the set that is pending for this thread or its process, for sigtimedwait(2). False: there is none.
bool take_pending_signal(x86_64::Thread& thread, std::uint64_t set, x86_64::SignalInfo& out);

/// In the child of a fork: it begins without pending signals.
void drop_pending_signals(x86_64::Thread& thread);

}  // namespace anyperf::engine

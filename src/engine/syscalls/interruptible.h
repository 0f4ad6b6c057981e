// interruptible.h: a system call of the application that may wait. The classic race - a signal after the last look and
// before the kernel has begun to wait - is closed by the handler, which knows these few instructions by their
// addresses.
#pragma once

#include <cstdint>

#include "engine/x86_64/signal_frame.h"
#include "engine/x86_64/thread.h"

namespace anyperf::engine {

/// Beyond any errno: the call was not made, or is to be made again, because a signal is to be delivered first.
inline constexpr long kBeginAgain = -5000;

/// The kernel's answer, or kBeginAgain; then Thread::syscall_restarted tells whether the kernel had begun it.
long interruptible_call(x86_64::Thread& thread, std::uint64_t number, const std::uint64_t (&argument)[6]);

/// For the signal handler: if the thread stands before the `syscall` of interruptible_call, also because the kernel has
/// set it back there to begin again, it goes on to the answer kBeginAgain instead. True where it was in there at all.
bool leave_syscall(x86_64::Thread& thread, x86_64::SignalContext& context);

/// Whether the thread stands in there.
bool is_in_syscall(const x86_64::SignalContext& context);

/// For the signal handler, where the signal is none of the application's: a call that it has just interrupted is begun
/// again instead of failing with EINTR.
void begin_syscall_again(x86_64::Thread& thread, x86_64::SignalContext& context);

}  // namespace anyperf::engine

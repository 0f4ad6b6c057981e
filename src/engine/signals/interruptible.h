// interruptible.h: a system call of the application that may wait, and that a signal must be able to interrupt.
//
// The problem: the engine's signal handler queues the application's signals and sets Thread::pending. They are
// delivered when the thread next leaves the engine. A thread that is about to wait must look at `pending` first, and
// there is a race: a signal that arrives after the look and before the kernel sleeps would be late by the whole wait.
// Blocking signals around the call does not help, because then nothing would interrupt the call. The kernel's solution,
// a mask as an argument (ppoll(2) and others), exists for a few calls only.
//
// The mechanism is that of a restartable sequence. interruptible_call() is one piece of assembler with three labels:
//
//     check:    cmpl $0, pending
//               jne restart
//               syscall
//     done:     jmp out
//     restart:  mov $kRestartSyscall, %rax
//     out:
//
// The handler compares the interrupted rip with these labels (interrupt_syscall):
//
//     check <= rip < done   The kernel has not begun the call, or has undone it and set rip back to `syscall` in order
//                           to restart it (ERESTARTSYS with SA_RESTART, signal(7)). rip becomes `restart`: the call is
//                           not made.
//     rip == done           The kernel has an answer, EINTR perhaps. It must not be lost, so it is kept.
//
// In the first case rcx shows which of the two has happened: the code clears rcx before, and `syscall` stores its
// return address there (SDM volume 2, SYSCALL). The counters need to know: if the kernel had begun the call, the
// instruction has retired.
//
// A signal that only the engine uses (a safepoint request, an alarm), or that the application ignores or blocks, must
// not make the application's call fail with EINTR. restart_interrupted_syscall() replaces that error by
// kRestartSyscall.
#pragma once

#include <cstdint>

#include "engine/x86_64/cpu/signal_frame.h"
#include "engine/x86_64/cpu/thread.h"

namespace anyperf::engine {

/// The call was not made, or must be made again, because a signal must be delivered first. It is below any negated
/// errno, so the kernel never returns it.
inline constexpr long kRestartSyscall = -5000;

/// Makes a system call. Returns the kernel's answer, or kRestartSyscall; Thread::syscall_restarted is true then if the
/// kernel had begun the call.
long interruptible_call(x86_64::Thread& thread, std::uint64_t number, const std::uint64_t (&argument)[6]);

/// For the signal handler. If the thread is in interruptible_call() and the kernel has not returned a result, makes it
/// return kRestartSyscall. Returns whether the thread was in interruptible_call(), at `done` at the latest.
bool interrupt_syscall(x86_64::Thread& thread, x86_64::SignalContext& context);

/// Whether the thread was interrupted in interruptible_call().
bool is_in_syscall(const x86_64::SignalContext& context);

/// For the signal handler, if the signal will not be delivered to the application: if it has just interrupted a call
/// (EINTR), makes interruptible_call() return kRestartSyscall instead of the error.
void restart_interrupted_syscall(x86_64::Thread& thread, x86_64::SignalContext& context);

}  // namespace anyperf::engine

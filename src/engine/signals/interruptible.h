// interruptible.h: a system call of the application that may wait, and that a signal must be able to interrupt.
//
// The engine's signal handler queues the application's signals and sets Thread::pending; they are delivered when the
// thread next comes out of the engine. A thread that is about to wait has to look at `pending` first, and there is a
// race: a signal that arrives after the look and before the kernel sleeps would wait as long as the call does. Blocking
// signals around the call does not help, because then the call would not be interrupted at all, and the kernel's own
// solution (ppoll and its like take a mask) exists for a few calls only.
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
// In the first case rcx distinguishes the two histories: `syscall` stores its return address there (SDM volume 2,
// SYSCALL) and the code clears rcx before. The difference matters to the counters, since an instruction that the kernel
// had begun has retired.
//
// A signal that only the engine wants (a safepoint request, an alarm), or that the application ignores or blocks, must
// not make the application's call fail with EINTR: restart_interrupted_syscall() turns such an answer into
// kRestartSyscall.
#pragma once

#include <cstdint>

#include "engine/x86_64/cpu/signal_frame.h"
#include "engine/x86_64/cpu/thread.h"

namespace anyperf::engine {

/// The call was not made, or has to be made again, because a signal is to be delivered first. Below any errno, so that
/// it is no answer of the kernel's.
inline constexpr long kRestartSyscall = -5000;

/// Makes a system call. Returns the kernel's answer, or kRestartSyscall; Thread::syscall_restarted is true then if the
/// kernel had begun the call.
long interruptible_call(x86_64::Thread& thread, std::uint64_t number, const std::uint64_t (&argument)[6]);

/// For the signal handler. If the thread is in interruptible_call() and the kernel has no answer yet, makes it return
/// kRestartSyscall. Returns whether the thread was in interruptible_call(), up to and including the kernel's answer.
bool interrupt_syscall(x86_64::Thread& thread, x86_64::SignalContext& context);

/// Whether the thread was interrupted in interruptible_call().
bool is_in_syscall(const x86_64::SignalContext& context);

/// For the signal handler, where the signal is not delivered to the application: if it has just interrupted a call
/// (EINTR), makes interruptible_call() return kRestartSyscall instead of the error.
void restart_interrupted_syscall(x86_64::Thread& thread, x86_64::SignalContext& context);

}  // namespace anyperf::engine

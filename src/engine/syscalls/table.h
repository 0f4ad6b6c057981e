// table.h: who answers a system call of the application.
//
// Translated code never executes `syscall`. It exits to the engine, which makes a Call from the application's registers
// and calls run_syscall() (engine/dispatch.cpp). The call is then one of three kinds:
//
//   answered by the agent    The call concerns performance events: perf_event_open, a call on an event's descriptor, or
//                            one on a file of the presented machine. hooks::handle_syscall() answers it, perhaps
//                            without the kernel.
//   handled by the engine    A row of the table in table.cpp names a handler. The handler may check or change
//                            arguments, make other calls, update what the engine knows (executable memory, threads,
//                            signal actions), or answer with an error.
//   passed through           Every other call goes to the kernel as it is, even if its number is newer than the table.
//
// The engine is not a sandbox. A call needs a row only if the kernel's answer would describe the engine instead of the
// program (/proc/self/exe, RLIMIT_AS), if the engine has to follow its effect (mmap, clone), or if it would break the
// engine (seccomp, close_range). The engine runs in the application's process and shares its descriptors, signal
// actions and address space, so these three cases cover most of the rows.
//
// Three special cases:
//
//   Signals.      A call that waits must be interruptible by a signal that arrives just before it. interruptible.h (in
//                 signals/) has the mechanism; its result is kRestartSyscall. Then no answer reaches the application:
//                 the signal is delivered first, and the instruction runs again after the handler.
//   EFAULT.       The engine write-protects pages that it has translated from (memory/protected_code.h), so the kernel
//                 may fail to write where the application may. run_syscall() lifts that protection and runs the row's
//                 handler again.
//   Descriptors.  A call on one of the engine's own descriptors gets EBADF (descriptor_arguments.h).
//
// Limit: the engine does not see work that the kernel does without a `syscall` instruction of this process, as for
// io_uring.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/syscalls/call.h"

namespace anyperf::engine {

/// What the engine does with a call. It only documents the row: the handler alone decides.
enum class Treatment : std::uint8_t {
    pass,     ///< the kernel does it, as the application asks for it
    observe,  ///< the kernel does it; the engine checks it before or follows its effect afterwards
    emulate,  ///< the engine does it, perhaps by other calls
    refuse,   ///< the engine returns the error of a kernel that does not have the call
};

struct SyscallRow {
    std::uint16_t number;
    std::string_view name;
    Treatment treatment;
    long (*handle)(Call&);  ///< returns the value for rax: a result, a negated errno, or kRestartSyscall
    std::string_view note;  ///< why the call is not passed through
};

/// The name of a system call; empty if no call has the number.
std::string_view syscall_name(std::uint64_t number);

/// Runs a system call by the agent, by its row's handler or by the kernel. Returns the value for rax, or
/// kRestartSyscall. Does not return if the call does not (exit, rt_sigreturn).
long run_syscall(Call& call);

/// Makes the call as the engine does, without asking the agent first: by turns, by its row's handler or by the kernel.
/// For the agent, whose own answer begins with a call that may wait.
long run_engine_row(Call& call);

}  // namespace anyperf::engine

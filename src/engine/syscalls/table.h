// table.h: how a system call of the application travels.
//
// Translated code never executes `syscall`. It exits to the engine, which makes a Call from the application's registers
// and runs run_syscall() (engine/dispatch.cpp). From there a call takes one of three ways:
//
//   served by the agent   The call concerns performance events: perf_event_open, or a call on an event's descriptor.
//                         hooks::handle_syscall() answers it, and the kernel may never see it.
//   changed or served     A row of the table in table.cpp names a handler. The handler may check or change arguments,
//                         make other calls, update what the engine knows (executable memory, threads, signal actions),
//                         or answer with an error.
//   passed through        Every other number, also one that is newer than this table, goes to the kernel as it is.
//
// The engine is not a sandbox. A call needs a row only if the kernel's answer would describe the engine instead of the
// program (/proc/self/exe, RLIMIT_AS), if the engine has to follow its effect (mmap, clone), or if it would break the
// engine (seccomp, close_range). The engine runs in the application's process and shares its descriptors, signal
// actions and address space, so these three cases cover most of the rows.
//
// Two edges apply to all calls:
//
//   Signals.  A call that waits must be interruptible by a signal that arrives just before it. interruptible.h has the
//             mechanism; its result is kRestartSyscall. Then no answer reaches the application: the signal is delivered
//             first, and the instruction runs again after the handler.
//   EFAULT.   The engine write-protects pages that it has translated from (memory/protected_code.h), so the kernel may
//             fail to write where the application may. run_syscall() lifts that protection and runs the handler again.
//
// Limit: work that the kernel does without a `syscall` instruction of this process, as for io_uring, does not come
// here.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/syscalls/call.h"

namespace anyperf::engine {

/// What the engine does with a call. Documentation of the row: the handler alone decides.
enum class Treatment : std::uint8_t {
    pass,     ///< the kernel does it, as the application asks for it
    observe,  ///< the kernel does it; the engine checks it before or follows its effect after
    emulate,  ///< the engine does it, perhaps with other calls
    refuse,   ///< answered with the error that a kernel without this call returns
};

struct SyscallRow {
    std::uint16_t number;
    std::string_view name;
    Treatment treatment;
    long (*handle)(Call&);  ///< returns the value for rax: a result, a negated errno, or kRestartSyscall
    std::string_view note;  ///< why the call is not passed through
};

/// The name of a system call; empty for a number without a call.
std::string_view syscall_name(std::uint64_t number);

/// Runs a system call: the agent's way, its row's handler, or the kernel. Returns the value for rax, or
/// kRestartSyscall. It does not return for calls that do not (exit, rt_sigreturn).
long run_syscall(Call& call);

}  // namespace anyperf::engine

// hooks.h: the hooks that the engine calls and the agent implements (the part of the perf_event subsystem that lives
// in programs). The engine itself knows counters, budgets, breakpoints and memory that is shared; which events these
// are for it does not know. A hook is called where the thread's registers and counters are exact, on the thread itself,
// with the cache's lock free, except where the hook says otherwise.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/syscalls/call.h"

namespace anyperf::engine::hooks {

/// Room for what the agent keeps for one thread, at Thread::agent. It begins as zeros and ends with the Thread.
inline constexpr std::size_t kAgentStateBytes = 512;

// Processes and threads.

/// A process begins: with `executed` after its image was loaded, else as the child of a fork. It has one thread,
/// which has an open page.
void at_process_start(Thread& thread, bool executed);

/// The time in ns by which the agent's records tell when something happened, unless their event has another clock. Also
/// called in the signal handler: takes no lock.
std::uint64_t record_time(const Engine& engine);

/// Another program, called `name`, is about to replace this one; called again with an empty name if the exec failed.
void before_exec(Thread& thread, std::string_view name);

/// A thread begins in a process that goes on, or the child of a vfork.
void at_thread_start(Thread& thread);

/// The thread is about to make a child, with the flags of clone(2) and this page. The result is a number that the
/// child's start hook finds in Thread::inheritance; 0 if there is nothing to inherit.
std::uint32_t before_clone(Call& call, std::uint64_t clone_flags, std::uint32_t page);
/// In the parent: the child `tid` exists, or (below 0, an errno) could not be made.
void after_clone(Call& call, std::uint32_t inheritance, long tid);

/// The thread ends by exit(2) or exit_group(2); with `whole_process` all threads of its process end. Not called for a
/// thread that is killed.
void at_thread_end(Thread& thread, bool whole_process);

/// Another thread is about to free this one's memory: the child of a vfork that went on to another program, or ended.
void discard_thread(Thread& thread);

// Safepoints and budgets.

/// ThreadPage::safepoint_requested was set: the events to count have changed.
void serve_safepoint_request(Thread& thread);

/// The agent's timer of the thread has expired (Thread::alarmed).
void at_timer_expiry(Thread& thread);

/// The budget does not suffice for the block at registers.rip, which has not run. Grants a new budget of at least one
/// instruction.
void at_budget_end(Thread& thread);

// Single instructions and return targets (instrumentation.h).

/// The instruction at registers.rip is about to run by itself, because there is a breakpoint at its address or it may
/// access watched memory. If kResumeFlag is set in registers.flags, its breakpoint was reported already and a signal
/// came before it ran. A hook that reports the breakpoint sets that flag.
void before_single_step(Thread& thread);
/// That instruction has run; the registers are those after it.
void after_single_step(Thread& thread);

/// The thread has reached registers.rip, a return target, by a return or another indirect branch.
void at_return_target(Thread& thread);

// Page faults.

/// Whether the application's fault at `address` is on a ring buffer that the agent maps for it; it is then delivered as
/// SIGBUS. Called in the signal handler: takes no lock.
bool is_ring_fault(const Thread& thread, std::uint64_t address);

/// The thread has left the application's code, which is to continue at `next`, or is about to enter it. Called only
/// while ThreadPage::faults_are_counted.
void after_translated_code(Thread& thread, std::uint64_t next);
void before_translated_code(Thread& thread);

/// The instruction at registers.rip has touched a page that was not there (Thread::faulted_address). The kernel has
/// made it, and the instruction is repeated after this call.
void at_page_fault(Thread& thread);

// System calls.

/// The application's system call begins, and has its result, which may be kRestartSyscall. Called only while
/// ThreadPage::traced; the second one also if a safepoint was requested meanwhile.
void before_syscall(Call& call);
void after_syscall(Call& call, long answer);

/// Handles the call if it concerns performance events, with its result in `answer`. False: the engine handles it.
bool handle_syscall(Call& call, long& answer);

/// The engine or the kernel has handled the call. Called in the thread's `in_kernel` section, before after_syscall().
void after_engine_syscall(Call& call, long answer);

}  // namespace anyperf::engine::hooks

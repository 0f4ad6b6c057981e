// hooks.h: the functions that the engine calls and the agent implements. The agent is the part of the perf_event
// subsystem that lives in the programs of a run. The engine knows counters, budgets, breakpoints and shared memory, but
// not the events that they serve. Unless its comment says otherwise, a hook is called on the thread itself, while the
// thread's registers and counters are exact and the cache's lock is free.
#pragma once

#include <cstddef>
#include <string_view>

#include "engine/syscalls/call.h"

namespace anyperf::engine::hooks {

/// Size of the agent's state of one thread, at Thread::agent. It begins as zeros and lives as long as the Thread.
inline constexpr std::size_t kAgentStateBytes = 1024;

// Processes and threads.

/// A process begins. `executed`: by an execve, whose image was loaded; else as the child of a fork. It has one thread,
/// which has its thread page.
void at_process_start(Thread& thread, bool executed);

/// The time in ns on the default clock of the agent's records. Also called in the signal handler, so it takes no lock.
std::uint64_t record_time(const Engine& engine);

/// The ids of a process with one thread have changed: gives it the run memory of its new user, if it must not share the
/// one that it has (docs/security.md).
void change_user_memory(Thread& thread);

/// Another program, called `name`, is about to replace this one; called again with an empty name if the exec failed.
void before_exec(Thread& thread, std::string_view name);

/// A thread begins in a process that goes on, or the child of a vfork.
void at_thread_start(Thread& thread);

/// The thread is about to create a child with these flags of clone(2), whose thread page has the number `page`. The
/// result is a number that the child's start hook finds in Thread::inheritance; 0 if there is nothing to inherit.
std::uint32_t before_clone(Call& call, std::uint64_t clone_flags, std::uint32_t page);
/// In the parent: `tid` is the id of the child, or a negated errno if it could not be created.
void after_clone(Call& call, std::uint32_t inheritance, long tid);

/// The thread ends by exit(2) or exit_group(2); with `whole_process` all threads of its process end. Not called for a
/// thread that is killed.
void at_thread_end(Thread& thread, bool whole_process);

/// Another thread is about to free this one's memory. `thread` is the child of a vfork that has executed another
/// program or has ended.
void discard_thread(Thread& thread);

// Safepoints and budgets.

/// ThreadPage::safepoint_requested was set: the events to count have changed.
void serve_safepoint_request(Thread& thread);

/// The agent's timer of the thread has expired (Thread::alarmed).
void at_timer_expiry(Thread& thread);

/// The budget does not suffice for the block at registers.rip, which has not run. The hook must grant at least one more
/// instruction.
void at_budget_end(Thread& thread);

/// rdpmc of this counter. False: the thread may not read it, and the instruction faults.
bool read_counter(Thread& thread, std::uint32_t counter, std::uint64_t& value);

// Single instructions and return targets (instrumentation.h).

/// The instruction at registers.rip is about to run in a block of its own, because there is a breakpoint at its address
/// or it may access watched memory. If kResumeFlag is set in registers.flags, its breakpoint was reported already and a
/// signal came before it ran. If the hook reports the breakpoint, it sets that flag.
void before_single_step(Thread& thread);
/// That instruction has run; the registers are those after it.
void after_single_step(Thread& thread);

/// The thread has reached registers.rip, a return target, by a return or another indirect branch. The hook may change
/// registers.rip.
void at_return_target(Thread& thread);

// Page faults.

/// Whether the application's fault at `address` is on a ring buffer that the agent maps for it. Then it is delivered as
/// SIGBUS. Called in the signal handler, so it takes no lock.
bool is_ring_fault(const Thread& thread, std::uint64_t address);

/// The thread has left the application's code, which continues at `next`; or it is about to enter it. Called only while
/// ThreadPage::faults_are_counted.
void after_translated_code(Thread& thread, std::uint64_t next);
void before_translated_code(Thread& thread);

/// The instruction at registers.rip has touched a page that was not present (Thread::faulted_address). The kernel has
/// added it, and the instruction is repeated after this call.
void at_page_fault(Thread& thread);

// System calls.

/// The application's system call begins; it has the result `answer`, which may be kRestartSyscall. Both are called only
/// while ThreadPage::traced; the second one also if a safepoint was requested meanwhile.
void before_syscall(Call& call);
void after_syscall(Call& call, long answer);

/// Handles the call if it concerns performance events, with its result in `answer`. False: the engine handles it.
bool handle_syscall(Call& call, long& answer);

/// The engine or the kernel has handled the call. Called in the thread's `in_kernel` section, before after_syscall().
void after_engine_syscall(Call& call, long answer);

}  // namespace anyperf::engine::hooks

// attached.h: what is attached to the engine: it knows counters, budgets and a mailbox, and calls these at places where
// a thread's registers and counters are exact. Who serves performance events defines them (src/resident).
#pragma once

#include <string_view>

#include "engine/syscalls/table.h"

namespace anyperf::engine::attached {

/// A process begins: after its image is loaded (`executed`) or as the child of a fork. Its one thread has its page.
void begin_process(Thread& thread, bool executed);

/// Before a program of that name takes this one's place; empty: it could not.
void executing(Thread& thread, std::string_view name);

/// A thread of a process that goes on begins.
void begin_thread(Thread& thread);

/// What the parent asks for before it makes a child with that page: a number that the child's begin_… finds in
/// Thread::inheritance.
std::uint32_t before_clone(Call& call, std::uint64_t clone_flags, std::uint32_t page);
/// In the parent: the child `tid` is there, or (below 0) could not be made.
void cloned(Call& call, std::uint32_t inheritance, long tid);

/// The thread ends, by its own will; `whole_process`: with all others of its process.
void end_thread(Thread& thread, bool whole_process);

/// Another thread gives this one's memory back: a vfork's child that has gone on to another program, or has ended.
void drop_thread(Thread& thread);

/// ThreadPage::attention was set: what is to be counted has changed. The thread's registers are exact.
void attend(Thread& thread);

/// Whether the application faulted on memory that is served here: then it is told SIGBUS. For the signal handler: takes
/// no lock.
bool faulted_on_ring(const Thread& thread, std::uint64_t address);

/// The thread's alarm has gone off. Its registers are exact.
void alarmed(Thread& thread);

/// The budget does not suffice for the block at registers.rip, which has not run. Grants a new one, of one at least.
void budget_ended(Thread& thread);

/// The instruction at registers.rip runs by itself, because its address or memory that it may touch is watched
/// (engine/watch.h). With kResumeFlag in registers.flags it was about to already, and a signal came first: who watches
/// its address has been told. Who is told now sets that flag.
void about_to_run(Thread& thread);
/// It has run; registers are those behind it.
void has_run(Thread& thread);

/// By an indirect branch the thread has come to registers.rip, which is watched as such a target (engine/watch.h).
void arrived(Thread& thread);

/// The thread has left the application's code, or is about to enter it; called only while ThreadPage::watched.
void left_code(Thread& thread);
void entering_code(Thread& thread);

/// A system call of the application's begins, and has its answer; called only while ThreadPage::traced, the second also
/// where ThreadPage::attention was set meanwhile. kBeginAgain is an answer.
void entering_call(Call& call);
void left_call(Call& call, long answer);

/// The call has to do with performance events: done, and its answer in `answer`. False: it is the engine's.
bool system_call(Call& call, long& answer);

/// The engine has done a system call.
void called(Call& call, long answer);

}  // namespace anyperf::engine::attached

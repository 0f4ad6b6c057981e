// turns.h: the threads of a run take turns: one at a time runs, for all processes of the run.
//
// Turns
//
// The problem: threads that run at the same time meet in another order in each run. It varies which thread gets a lock
// first, how much a read of a pipe returns, whether a thread ends before another one checks. So counts and output
// differ.
//
// The mechanism: one thread of the run has the turn, and only that one executes the application's instructions. It
// gives the turn away in three cases: when it would wait, when its turn is used up, and when it ends. A turn has
// about four million instructions, up to 16 million where a thread only computes, and one in eight is short; the
// run's order determines the number, and what the thread has executed decides the exact place (turn_length.h). The next
// turn goes to the thread that has been ready for the longest time. The state of all threads is in the run memory
// (run/turns.h). The thread that has the turn changes it without a lock, and gives the turn by a store to a word on
// which the other thread sleeps.
//
// The thread with the turn never waits in the kernel for something that another thread of the run does. Calls that may
// wait are emulated (futexes, sleeps) or tried (syscalls/turns): if the call would wait, the thread is queued until
// another thread has used a descriptor, futex or child of that kind, and then tries again. So while a thread waits for
// its turn, nothing happens except what the turns before it do.
//
// While all other threads wait without a deadline, only a system call of the running one can make them ready. Its turn
// has no end then, and its code need not count down. It gets one after a system call that has made a thread ready. A
// signal from outside makes one ready, too: that thread asks the running one by a signal (ask_for_turn()).
//
// Time: when no thread can run, the virtual clock is advanced to the first deadline.
//
// The outside: when no thread can run and there is no deadline, the threads that wait for descriptors, children or
// signals wait for them in the kernel (kTurnWatch), and the first one that can go on takes the turn. If nothing but
// threads of the run can end any of the waits, the threads wait for each other: this is reported, and the run ends with
// 125. For futexes this is so at once. Where the kernel could wake one of the threads (a child that was killed), they
// wait for two seconds; then each finds out what it waits for (Wait::closed).
//
// The edges:
// - The end of a thread belongs to its turn. It gives the turn away as its last act, and the next thread waits
//   until the kernel has removed it (Turns::leaving).
// - Exec keeps the turn. The parent of a vfork gives its turn away and is ready again when the child has executed or
//   ended. If it has executed, the parent is first: most parents wait for their child then, so its turns need no end.
// - The thread with the turn may be killed or stopped from outside, or wait in a call that is not emulated. Each
//   waiting thread checks this after a while (check_holder()): it takes the turn from a thread that is gone, and from
//   one that has slept in the kernel for a second without running. That thread queues for its turn when it comes back.
// - A signal that a thread of the run sends reaches a waiting thread before that one's next turn, because it is pending
//   in the kernel before the turn is given. Timers are the run's (timers.h). Signals from outside come at any
//   instruction.
//
// What it can't do: data that a thread gets from outside the run may differ, as without turns.
#pragma once

#include <cstdint>

#include "engine/turn_end.h"
#include "engine/turns/slots.h"

namespace anyperf::engine::turns {

/// Whether the threads of this run take turns.
inline bool on(const Engine& engine) {
    return engine.turns != nullptr;
}

/// What the kernel could end a wait for, if nothing outside of the run can.
struct Closed {
    run::TurnClosed kind = run::TurnClosed::no;
    std::uint64_t descriptor = 0;   ///< the first one
    std::uint32_t descriptors = 0;  ///< how many are waited for
};

/// What a thread waits for.
struct Wait {
    run::TurnWait kind = run::TurnWait::nothing;
    run::TurnKey key{};
    std::uint64_t address = 0;
    std::uint32_t bits = ~0u;
    std::uint64_t deadline = run::kNoDeadline;
    /// Waits in the kernel for the same thing, at most so many ms. True: it has happened. Null: the kernel can't wait
    /// for it.
    bool (*watch)(void* context, int milliseconds) = nullptr;
    void* context = nullptr;
    bool outside = false;  ///< it may come from outside the run, so the virtual clock must not be advanced meanwhile
    /// Asks whether only threads of the run can do it, once it has not happened for a while. Null: others can.
    Closed (*closed)(Thread& thread, void* context) = nullptr;
};

// Beginnings and ends, of the calling thread except for the functions with a slot.

/// A process has begun with a program. Its thread keeps the turn of the thread that has executed the program; the first
/// thread of the run gets the first turn.
void begin_program(Thread& thread);
/// A slot for a child of the calling thread, which is ready; 0: there is none. `vforked`: this thread waits for it.
/// `own_process`: the child is not a thread of this process.
std::uint32_t new_slot(Thread& thread, std::uint64_t space, bool vforked, bool own_process);
void free_slot(Engine& engine, std::uint32_t slot);
/// Sets the ids of the slot's child.
void name_slot(Engine& engine, std::uint32_t slot, std::int32_t pid, std::int32_t tid);
/// A number for a new address space.
std::uint64_t new_space(Engine& engine);
/// A thread has begun, or a process that shares this memory: waits for its first turn.
void begin_thread(Thread& thread, std::uint32_t slot);
/// The same for a process with a copy of its parent's memory.
void begin_fork_child(Thread& thread, std::uint32_t slot);
/// The thread is about to call vfork(2), in which the kernel holds it until the child has executed or ended: gives its
/// turn away.
void begin_vfork(Thread& thread);
/// The thread returns from vfork(2). `failed`: the child could not be created.
void end_vfork(Thread& thread, std::uint32_t child, bool failed);
/// The thread, or its whole process, is about to end: gives its last turn away.
void end_thread(Thread& thread);
void end_process(Thread& thread);

// Turns.

/// Gives the turn away and waits for the next one.
void pass(Thread& thread);
/// The same for a thread that has used up its turn.
void pass_at_end(Thread& thread);
/// Waits. A signal that must be delivered ends the wait. If there is one already, the wait does not begin (`begun` is
/// false).
run::TurnEnd wait(Thread& thread, const Wait& wait, bool& begun);
/// The thread is about to stop for its tracer: gives its turn away. come_back() follows.
void begin_stop(Thread& thread);
/// Waits for the turn, if it was taken from the thread while it was in the kernel.
void come_back(Thread& thread);

/// Whether no other thread of the run exists.
bool is_alone(const Thread& thread);

/// Whether the file is one that the run's first program was given.
bool is_outside(const Engine& engine, std::uint64_t device, std::uint64_t inode);

/// The thread keeps the turn however long it sleeps.
inline void hold_on(Thread& thread, bool hold) {
    slot_of(thread).holds_on = hold ? 1 : 0;
}

}  // namespace anyperf::engine::turns

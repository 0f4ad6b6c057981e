// order.h: chooses the thread that gets the turn next, and decides what happens when no thread can run. Only files of
// this folder include it.
#pragma once

#include "engine/turns/slots.h"

namespace anyperf::engine::turns {

// What the run's order decides. The caller has the turn.

/// The next number of the generator.
std::uint64_t draw(run::Turns& turns);
/// The length of the thread's next turn in instructions.
std::uint64_t draw_length(Engine& engine, const run::TurnSlot& slot);
/// The thread has used up a turn, which has ended at `pc`.
void note_used_up(run::TurnSlot& slot, std::uint64_t pc);
/// Whether a new thread comes last in some times: 1 or 0. `first`: it is the first one of the run.
std::uint32_t draw_priority(Engine& engine, bool first);

/// Passes the caller's turn on. If `self` is not 0 the caller, with that slot, may be the next one itself. Then it
/// keeps the turn, and the result is true.
bool pass_on(Engine& engine, std::uint32_t self);

/// The calling thread, which is outside, wants to run. True: it has the turn now.
bool arrive(Engine& engine, std::uint32_t self);

/// Whether no other thread that waits has an earlier deadline.
bool is_first_deadline(const run::Turns& turns, std::uint32_t self);

/// No thread can run, and the time has come to which the calling thread, which waits in the kernel, has a deadline:
/// ends the wait with the earliest deadline, and gives its thread the turn. True: that is the caller.
bool end_first_wait(Engine& engine, std::uint32_t self, std::uint64_t now);

/// Sleeps while the word has this value, at most so many ns (futex(2)).
void sleep_on(std::uint32_t& word, std::uint32_t value, std::int64_t ns);

/// Sleeps until the slot's `turn` is set, at most so many ns.
void sleep_on_turn(run::TurnSlot& slot, std::int64_t ns);
/// Sets a slot's `turn` and wakes its thread.
void notify(run::TurnSlot& slot, std::uint32_t word);
/// Interrupts the slot's thread by a signal that only the engine sees: its wait in the kernel, or its turn without an
/// end.
void interrupt_for_turns(const run::TurnSlot& slot);

/// What a waiting thread has seen of the one that has the turn.
struct HolderWatch {
    std::uint64_t turns = 0;   ///< how many had been given
    unsigned looks = 0;        ///< since then
    std::uint64_t run_ns = 0;  ///< how long the holder had run
    unsigned asleep = 0;       ///< looks in succession at which it slept and had not run since the one before
};

/// To be called by a thread that waits in the kernel because no thread can run: if all of them wait for each other, and
/// this is the first of them, reports it and ends the run.
void report_if_deadlocked(Engine& engine, std::uint32_t self);

/// For a thread that has waited for a while: takes the turn from a thread that is gone or stuck, and passes it on.
/// Called every kLookNs.
void check_holder(Engine& engine, std::uint32_t self, HolderWatch& watch);
inline constexpr std::int64_t kLookNs = 100'000'000;

/// Waits until the thread in Turns::leaving, which has given its last turn away, has ended in the kernel.
void await_thread_end(Engine& engine);
/// Waits until a process is gone, a second at most. False: it is not.
bool await_process_end(std::int32_t pid);

/// Frees the slots of a process that is gone, and wakes threads that may have waited for it.
void free_process_slots(Engine& engine, std::int32_t pid);

}  // namespace anyperf::engine::turns

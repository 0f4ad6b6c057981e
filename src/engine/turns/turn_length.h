// turn_length.h: where the turn of a thread ends that does not wait (turns.h).
//
// PROBLEM. A turn must end at the same instruction in each run, after some millions of them. Whatever ends it must be
// counted while the thread runs, and the count may follow from nothing but the instructions that have run: not from how
// they were translated, which differs between runs (stored translations, traces, calls that are paired).
//
// REJECTED. A budget of instructions (run/live_counters.h) ends at any instruction, and is what sampling needs. But
// each segment subtracts from it, after the one before it: a process whose segments are short took 2.8 times the time.
// A timer in place of a count: it can't be early enough for certain.
//
// MECHANISM. Two parts.
// - *Steps.* A step is made by a branch that goes back (to its own address or a lower one), if it is direct and taken,
//   and by an indirect branch, unless a call instruction ends right before its target: such a target is almost always
//   that of a return. So a loop makes a step each time around, and a function makes one when it is called
//   through a pointer or the PLT. Nothing can run for long without a step: what makes none goes forward, or returns
//   from calls that went forward. Translated code charges steps with one subtraction each
//   (x86_64/translate/steps.h), for all steps of a trace at once.
//   The turn has an end in instructions. The thread is granted as many steps as will take it there at its latest rate
//   of instructions per step. When they are used up its instructions are counted (they are always known exactly, in the
//   tuples), and if it has not arrived it is granted more. All of this follows from what the thread has run.
// - *The last instructions.* If turns ended only with steps, a thread would never be stopped between two instructions
//   of a loop's body, and a race there would never show. So after the last step the thread runs a few instructions
//   more, as many as the run's order determines: mostly fewer than 32, one time in 32 up to 1,024, and exactly so
//   many. The engine runs them by blocks that end with their first branch (go_to() in dispatch.cpp).
//
// EDGES.
// - What is granted is divided among lanes, by how much each was used lately. If the lane of a block is exhausted, the
//   rest is divided anew, as for budgets; the sum is what counts.
// - A branch that comes to the engine, because it is not linked yet or has no entry, is charged there.
// - A trace that is left early gives back the steps that it has not made, also when a fault or a signal stops it.
// - A process begins to charge steps when it first has a turn that ends; its code is translated anew then.
//
// LIMITS. A thread that runs straight through megabytes of code is not stopped. A timer of the program expires with
// a step, so it may be late by as many instructions as the thread's rate of steps is mistaken by.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine::turns {

/// The calling thread's turn has no end.
void unlimit_turn(Thread& thread);

/// The calling thread's turn is used up with the first step after which `instructions` more have retired, unless it
/// ends earlier. `retired`: what the thread has retired.
void limit_turn(Thread& thread, std::uint64_t instructions, std::uint64_t retired);

inline bool is_limited(const Thread& thread) {
    return thread.turn.end != 0;
}

/// A branch of the thread makes a step, which translated code has not charged. If all steps are used up, the thread is
/// granted more, or the turn is used up (is_ending).
void make_step(Thread& thread);

/// Translated code has charged `steps` to this lane, which has fewer: takes them back and divides what remains among
/// the lanes anew. False: fewer remain in all lanes.
bool refill_steps(Thread& thread, std::size_t lane, std::int64_t steps);

/// Whether the turn is used up: what is left of it runs in short blocks.
inline bool is_ending(const Thread& thread) {
    return thread.turn.stop != 0;
}
/// The instructions that are left of a turn that is used up.
inline std::uint64_t left_of(const Thread& thread) {
    const std::uint64_t retired = x86_64::retired_by(thread);
    return thread.turn.stop > retired ? thread.turn.stop - retired : 0;
}
/// Whether the turn ends at this instruction.
inline bool is_over(const Thread& thread) {
    return is_ending(thread) && left_of(thread) == 0;
}

}  // namespace anyperf::engine::turns

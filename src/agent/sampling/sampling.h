// sampling.h: what happens at an overflow. The thread that overflowed handles it itself, between two instructions of
// the application, with all registers exact; no other thread or process is interrupted or asked.
//
// Problem: a PMU interrupts the kernel when a counter overflows, some instructions too late. A run has no counter that
// could interrupt: translated code only adds to counts. A signal or a message from the broker would come too late, and
// each sample would cost a switch to another process and back.
//
// From budget to record:
//
//   1. The thread asks each of its sampling events how many instructions can retire before it overflows, and grants
//      itself the least as a budget (overflow_budget.h). For an event of instructions that number is exact. For a
//      weighted sum of other classes it is a lower bound, from which the thread asks again
//      (subsystem/shared/counter_sum.h). Page faults cannot be foreseen; the kernel reports them (fault_traps.h).
//      Clocks have a timer (clock_sampling.h). Occurrences (occurrences.h) and breakpoints
//      need no budget: whoever notices one calls record_event().
//   2. Translated code takes each segment's instructions off the budget of a lane. A segment that does not fit exits
//      before it runs (ExitReason::budget). If the end is exact the engine runs the rest of the budget in a shorter
//      block, so that the thread stops at exactly the overflow; then it calls at_budget_end (grant_next_budget()).
//   3. handle_overflows() asks again whether an overflow is due, under the event's lock, and moves the period's end
//      (subsystem/shared/overflow.h). It gathers the fields of the sample from the thread's registers and stack and
//      writes the record straight into the ring, under the ring's lock.
//   4. With no lock held it wakes the ring's reader, by a request to the broker, and sends the signals of O_ASYNC and
//      sigtrap.
//   5. The thread grants itself the next budget and goes on.
//
// Which instruction: at an overflow registers.rip is the next instruction, as at an interrupt. Precise events and
// samples of memory accesses need the one that caused the overflow. So the budget before it ends one instruction
// early, and that instruction then runs by itself (AgentState::last_retired_pc, last_accesses).
//
// Races. The broker may disable, reset or close the event meanwhile: so `state` is checked under the event's lock, and
// an event that does not count does not sample. Where the overflow exhausts the limit of REFRESH the thread
// switches the event off itself, at that very count; a change of state needs the group's lock, which comes before the
// event's, so the overflow is tried again with both (Taken::needs_group). Locks are not recursive and are never taken
// in a signal handler: a timer's signal only marks the thread. A thread that is killed halfway leaves its locks to be
// taken over and has written no part of a record that a reader can see.
//
// What it can't do: samples know nothing of the kernel. A sample of kernel mode (SampleContext::in_kernel) has only the
// program's registers and stack. What system calls add to a count is noticed after the call
// (check_after_syscall()). Instructions are not throttled; only clocks are.
#pragma once

#include <cstddef>
#include <span>

#include "agent/process.h"

namespace anyperf::agent {

using engine::Thread;

/// What a sample has beyond the thread's registers and clocks.
struct SampleContext {
    std::span<const std::byte> raw;  ///< of PERF_SAMPLE_RAW; borrowed for the call
    bool in_kernel = false;          ///< the sample is of kernel mode: its address is unknown
};

/// An event that threads add up themselves (Source::Kind::occurrences) has occurred once, at the thread's
/// registers: counts it if the event counts, and handles the overflow if one is due. Takes the event's lock.
void record_event(Thread& thread, EventPage& event, EventIndex index, const SampleContext& context = {});

/// Handles every overflow of `event` that is due, at the thread's registers. Returns whether the event still counts; if
/// not, its limit was reached or it was disabled. The caller holds no lock.
bool handle_overflows(Thread& thread, EventPage& event, EventIndex index, const SampleContext& context = {});

}  // namespace anyperf::agent

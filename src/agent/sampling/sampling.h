// sampling.h: what happens at an overflow. The thread whose event overflowed handles it itself, between two
// instructions of the application, with all registers exact; no other thread or process is interrupted or asked.
//
// Problem: a PMU interrupts the kernel when a counter overflows, some instructions too late. A run has no counter that
// could interrupt: translated code only adds to counts. A signal or a message from the broker would come too late, and
// each sample would cost a switch to another process and back.
//
// From budget to record:
//
//   1. The thread asks each of its sampling events how many instructions can retire before it overflows, and grants
//      itself the smallest number as a budget (overflow_budget.h). For an event that counts instructions the number is
//      exact. For a weighted sum of other counters it is a lower bound, after which the thread asks again
//      (subsystem/shared/counter_sum.h). Page faults cannot be foreseen; the kernel reports them (fault_traps.h).
//      Clocks have a timer (clock_sampling.h). Occurrences (occurrences.h) and breakpoints need no budget: the code
//      that notices one calls record_event().
//   2. From the first grant on, translated code charges each segment's instructions to the budget of a lane. A segment
//      that does not fit exits before it runs (ExitReason::budget). If the number is exact, the engine runs the rest of
//      the budget in a shorter block, so that the thread stops exactly at the overflow. Then the engine calls
//      at_budget_end (grant_next_budget()).
//   3. handle_overflows() checks again whether an overflow is due, under the event's lock, and moves the period's end
//      (subsystem/shared/overflow.h). It gathers the fields of the sample from the thread's registers and stack, and
//      writes the record directly into the ring, under the ring's lock.
//   4. With no lock held it wakes the ring's reader by a request to the broker, and sends the signals of O_ASYNC and
//      sigtrap.
//   5. The thread grants itself the next budget and goes on.
//
// Which instruction: at an overflow registers.rip is the next instruction, as at an interrupt. Precise events and
// samples of memory accesses need the one that caused the overflow. So for them the budget ends one instruction before
// the overflow, and then that instruction runs by itself (AgentState::last_retired_pc, last_accesses).
//
// Races: the broker may disable, reset or close the event meanwhile. So `state` is checked under the event's lock, and
// an event that does not count does not sample. If the overflow exhausts the limit of PERF_EVENT_IOC_REFRESH, the
// thread itself switches the event off, at exactly that count. A change of state needs the group's lock, which is taken
// before the event's. So the overflow is tried again with both locks (Taken::needs_group). Locks are not recursive and
// are never taken in a signal handler: a timer's signal only marks the thread. If a thread is killed halfway, its locks
// are taken over by others, and no reader can see the part of a record that it has written.
//
// Limits: samples have nothing of the kernel. A sample of kernel mode (SampleContext::in_kernel) has only the program's
// registers and stack. What a system call adds to a count is noticed after the call (check_after_syscall()). Events
// that count instructions are not throttled; only clocks are.
#pragma once

#include <cstddef>
#include <span>

#include "agent/process.h"

namespace anyperf::agent {

using engine::Thread;

struct PythonFrames;  // python/python_frames.h

/// What a sample has besides the thread's registers and clocks.
struct SampleContext {
    std::span<const std::byte> raw;  ///< the data of PERF_SAMPLE_RAW; must be valid during the call
    bool in_kernel = false;          ///< the sample is of kernel mode: its address is unknown
    PythonFrames* python = nullptr;  ///< the thread's Python frames, which handle_overflows() gathers if it needs them
};

/// An occurrence of the event (Source::Kind::occurrences) at the thread's registers: counts it if the event counts, and
/// handles the overflow if one is due. Takes the event's lock.
void record_event(Thread& thread, EventPage& event, EventIndex index, const SampleContext& context = {});

/// Handles every overflow of `event` that is due, at the thread's registers. Returns whether the event still counts: it
/// does not if its limit was reached or it was disabled. The caller holds no lock.
bool handle_overflows(Thread& thread, EventPage& event, EventIndex index, const SampleContext& context = {});

}  // namespace anyperf::agent

// virtual_clock.h: the time that programs of a deterministic run see.
//
// The clock of the run
//
// The problem: a program that reads a clock gets another answer in each run, and goes on differently: it prints the
// time, seeds a generator with it, gives up after some milliseconds, or repeats a read of the vDSO that met an update
// of the kernel's time. A clock that never advances would not help: a loop that waits for a time would never end.
//
// The mechanism: there is one clock for the run, in its shared memory (run::RunUse::clock). It counts what has retired
// and what was slept, and nothing else moves it. A retired instruction takes kUnitsOfInstruction, a quarter of a
// nanosecond, which is also what frequencies of events go by (docs/models.md). A thread does not write the clock while
// it runs: it adds what it has retired since its last look when it looks at the clock, before it sleeps, executes
// another program or ends. So translated code pays
// nothing but the count of instructions, which a run without events would not need: a perl loop takes 0.42 s of CPU
// time instead of 0.28 s, and as much as one that is counted. The time that a thread reads is to the instruction. A
// look itself takes some time, too, so that a loop that only looks at the clock ends soon.
//
// A thread that waits for nothing but time, while no other thread of the run could do anything, does not wait: the
// clock is advanced to the end of its wait at once. Else the wait takes its real time, and when it has timed out the
// clock is where the wait was to end. A wait that ended early because something happened has taken no time.
//
// How programs look at it: system calls (syscalls/time/clocks.cpp), rdtsc and rdtscp, which the dispatcher emulates. A
// program has no vDSO (AT_SYSINFO_EHDR is hidden), because the kernel's vDSO reads the kernel's time; a libc makes
// system calls then, which the engine answers without the kernel.
//
// What it can't do: threads that run at the same time add to one clock, so each sees the others' instructions when they
// look, in an order that chance decides. A thread that is killed does not add what it has retired since its last look.
#pragma once

#include <time.h>

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine {

/// The clock's unit is a quarter of a nanosecond.
inline constexpr std::uint64_t kUnitsOfNanosecond = 4;
inline constexpr std::uint64_t kUnitsOfInstruction = 1;
/// What looking at the clock takes: by a system call, by rdtsc.
inline constexpr std::uint64_t kUnitsOfCall = 50 * kUnitsOfNanosecond;
inline constexpr std::uint64_t kUnitsOfReadTsc = 10 * kUnitsOfNanosecond;
/// How long the machine has run when the run begins, which is what CLOCK_MONOTONIC counts from.
inline constexpr std::uint64_t kUptimeNs = 3600ull * 1'000'000'000;
inline constexpr std::int64_t kNsOfSecond = 1'000'000'000;

/// Whether programs see the virtual clock: in a deterministic run.
inline bool has_virtual_clock(const Engine& engine) {
    return engine.run != nullptr && engine.run->deterministic != 0;
}

/// The thread begins with the counts that its page has now: it adds to the clock what it retires from here on.
void begin_thread_time(Thread& thread);

/// Adds what the thread has retired since its last look, and `more` units, to the clock. Returns the clock in units.
std::uint64_t look_at_clock(Thread& thread, std::uint64_t more = 0);

/// Advances the clock to `units`, if it is not there yet.
void advance_clock(Engine& engine, std::uint64_t units);

/// CLOCK_MONOTONIC in ns of a clock in units.
std::uint64_t monotonic_ns(std::uint64_t units);

/// The time of a clock (clock_gettime(2)) in ns, after a look at the clock in `units`. False: it is not a clock that
/// the run answers for, such as the CPU time of another process.
bool virtual_time(Thread& thread, std::int32_t clock, std::uint64_t units, std::uint64_t& ns);

/// The clock in units at which `clock` shows `ns`; 0 if that is before the run.
std::uint64_t units_at(const Engine& engine, std::int32_t clock, std::uint64_t ns);

/// The CPU time of the calling thread's process so far, in ns: what its threads have retired.
std::uint64_t process_cpu_ns(const Thread& thread);

/// The time stamp counter of a clock in units: 3.2 GHz, the clock of the modelled cycles.
std::uint64_t time_stamp(std::uint64_t units);

/// The thread ends, and with `whole_process` all of its process: adds what they have retired to the clock and to the
/// CPU time that the process's record keeps.
void end_thread_time(Thread& thread, bool whole_process);

/// Whether no other thread of the run can run before this one does: this is the only thread, or the others wait for a
/// child.
bool is_alone(const Thread& thread);

/// The ns of a timespec; the most that fits for one that is longer. Negative: it is not valid.
std::int64_t ns_of(const timespec& time);

}  // namespace anyperf::engine

// virtual_clock.h: the time that programs of a deterministic run see.
//
// The clock of the run
//
// The problem: a program that reads a clock gets another answer in each run, and takes another path: it prints the
// time, seeds a generator with it, gives up after some milliseconds, or repeats a read of the vDSO because the kernel
// updated the time meanwhile. A clock that never advances would not help: a loop that waits for a time would never end.
//
// The mechanism: there is one clock for the run, in the run memory (run::RunUse::clock). It counts retired instructions
// and time that was slept, and nothing else advances it. A retired instruction takes kUnitsOfInstruction, a quarter of
// a nanosecond; the frequencies of events use the same rate (docs/models.md). A thread does not write the clock while
// it runs. It adds the instructions since its last look when it looks at the clock again, sleeps, executes another
// program or ends. So translated code only has to count instructions, which a run without events would not do: a perl
// loop takes 0.42 s of CPU time instead of 0.28 s, as much as in a run that counts. The time that a thread reads is
// exact to the instruction. A look takes some time itself, so that a loop that only looks at the clock ends soon.
//
// If a thread waits only for time, and no other thread of the run can do anything, it does not wait: the clock is
// advanced to the end of its wait at once. Otherwise the wait takes real time; after a timeout the clock is advanced to
// the end of the wait. A wait that ended early because something happened has taken no time.
//
// Programs look at the clock by system calls (syscalls/time/clocks.cpp) and by rdtsc and rdtscp, which dispatch.cpp
// emulates. They have no vDSO (AT_SYSINFO_EHDR is hidden), because the kernel's vDSO reads the kernel's time. A libc
// makes system calls instead, which the engine answers without the kernel.
//
// What it can't do: threads that run at the same time add to one clock, so each sees the instructions of the others as
// of their last look, in an order that chance decides. A thread that is killed does not add the instructions since its
// last look.
#pragma once

#include <time.h>

#include <cstdint>

#include "engine/engine.h"
#include "run/run_clock.h"

namespace anyperf::engine {

using run::kUnitsOfInstruction;
using run::kUnitsOfNanosecond;
using run::kUptimeNs;
using run::monotonic_ns;
/// The time that a look at the clock takes: by a system call, by rdtsc.
inline constexpr std::uint64_t kUnitsOfCall = 50 * kUnitsOfNanosecond;
inline constexpr std::uint64_t kUnitsOfReadTsc = 10 * kUnitsOfNanosecond;
inline constexpr std::int64_t kNsOfSecond = 1'000'000'000;

/// `ns` in units. Longer times than 73 years count as 73 years: so the time of a deadline never overflows.
constexpr std::uint64_t units_of(std::uint64_t ns) {
    constexpr std::uint64_t kMost = INT64_MAX / kUnitsOfNanosecond;
    return (ns < kMost ? ns : kMost) * kUnitsOfNanosecond;
}

/// Whether programs see the virtual clock: in a deterministic run.
inline bool has_virtual_clock(const Engine& engine) {
    return engine.run != nullptr && engine.run->deterministic != 0;
}

/// The thread begins: of the counts in its page, the clock gets only what it retires from now on.
void begin_thread_time(Thread& thread);

/// Adds what the thread has retired since its last look, and `more` units, to the clock. Returns the clock in units.
std::uint64_t look_at_clock(Thread& thread, std::uint64_t more = 0);

/// The clock in units, with what the thread has retired since its last look. This is not a look.
std::uint64_t clock_for(const Thread& thread);

/// Advances the clock to `units`, unless it is later already.
void advance_clock(Engine& engine, std::uint64_t units);

/// The time of `clock` (clock_gettime(2)) in ns; `units` is the result of a look at the run's clock. False: the run
/// does not have that clock, such as the CPU time of another process.
bool virtual_time(Thread& thread, std::int32_t clock, std::uint64_t units, std::uint64_t& ns);

/// The time of the run's clock, in units, at which `clock` is at `ns`; 0 if that is before the run.
std::uint64_t units_at(const Engine& engine, std::int32_t clock, std::uint64_t ns);

/// The CPU time of the calling thread's process so far, in ns: the instructions that its threads have retired.
std::uint64_t process_cpu_ns(const Thread& thread);

/// The time stamp counter when the clock is at `units`: 3.2 GHz, the frequency of the modelled cycles.
std::uint64_t time_stamp(std::uint64_t units);

/// The thread ends, with `whole_process` together with all threads of its process. Adds what they have retired to the
/// CPU time in the process record, and the thread's part to the clock.
void end_thread_time(Thread& thread, bool whole_process);

/// Whether no other thread of the run can do anything before this one does: it is the only thread, or all others wait
/// for a child.
bool is_alone(const Thread& thread);

/// The ns of a timespec, at most INT64_MAX. Negative: it is not valid.
std::int64_t ns_of(const timespec& time);

}  // namespace anyperf::engine

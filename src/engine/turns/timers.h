// timers.h: timers of a process whose threads take turns. They go by the run's clock, or by the CPU time of the
// process. The kernel has none of them armed.
//
// Each slot has the time at which the first timer of its process expires. A thread's turn ends there at the latest, a
// thread that waits is made ready then, and a thread of the process that begins a turn sends what is due: so a signal
// comes at a fixed instruction. A timer descriptor is armed in the kernel when it is due, so that it is readable. The
// child of a vfork has its own timers, in the memory of its parent.
#pragma once

#include <cstdint>

#include "engine/turns/slots.h"

namespace anyperf::engine::turns {

enum class TimerKind : std::uint32_t {
    none,
    interval_real,  ///< ITIMER_REAL and alarm(2); it stays over an execve
    interval_cpu,   ///< ITIMER_VIRTUAL and ITIMER_PROF
    posix,          ///< timer_create(2)
    descriptor,     ///< timerfd_create(2)
};

struct Timer {
    TimerKind kind = TimerKind::none;
    std::int32_t process = 0;    ///< the kernel's id of its process
    std::int32_t id = 0;         ///< of a timer or descriptor; ITIMER_… of an interval timer
    std::int32_t clock = 0;      ///< CLOCK_…
    std::int32_t signal = 0;     ///< 0: none
    std::int32_t thread = 0;     ///< that gets the signal, the kernel's id; 0: the process
    std::uint64_t value = 0;     ///< of the signal
    std::uint64_t deadline = 0;  ///< units of its clock; run::kNoDeadline: not armed
    std::uint64_t interval = 0;  ///< units; 0: it expires once
    std::uint64_t expired = 0;   ///< since a descriptor was last read
};

/// Whether a timer of this clock goes by the CPU time of the process.
bool is_cpu_clock(std::int32_t clock);
/// The time of a timer's clock in units.
std::uint64_t timer_now(Thread& thread, const Timer& timer);

/// The timer with this kind and id in the thread's process; null if it has none.
Timer* find_timer(const Thread& thread, TimerKind kind, std::int32_t id);
/// The same; makes the timer if it does not exist. Null if there are too many.
Timer* make_timer(const Thread& thread, TimerKind kind, std::int32_t id);
/// A timer of the process has changed: its threads' slots and the caller's turn follow.
void update_timers(Thread& thread);
/// The process is a fork's child: it has its parent's timer descriptors only.
void forget_timers(Thread& thread);
/// The child of a vfork does not share this memory any more.
void forget_timers_of(const Engine& engine, std::int32_t process);
/// The process has executed another program: it keeps the interval timer.
void keep_interval_timer(Thread& thread);

/// A thread of the process begins a turn: sends what is due. Returns whether a descriptor has become readable.
bool fire_timers(Thread& thread);
/// How many instructions the thread may execute until a timer expires.
std::uint64_t until_timer(Thread& thread);

}  // namespace anyperf::engine::turns

// clock_sampling.h: sampling by time, of cpu-clock and task-clock events: a POSIX timer of the thread ends their
// periods, since time passes without any instruction being counted. The timer's signal only marks the thread and makes
// it leave translated code at an instruction boundary; the overflow is handled there. In a system call the thread
// handles it when the call has ended.
#pragma once

#include "agent/process.h"

namespace anyperf::agent {

/// Whether the source is a clock (task_clock, cpu_clock).
bool counts_time(const subsystem::Source& source);

/// Sets the thread's timer to the nearest end of a period of its clock events; deletes it if no clock samples.
void set_alarm(engine::Thread& thread);

/// The timer has expired: handles the overflows of clocks that are due, and sets the timer to the next one.
void sample_clocks(engine::Thread& thread);

/// Deletes the thread's timer, if it has one. For a thread that ends.
void drop_alarm(engine::Thread& thread);

}  // namespace anyperf::agent

// task_time.h: the time for which a task's events were enabled, divided among the CPUs to which they are bound.
//
// With -A and --per-core the events of a task are opened once for each CPU. The kernel says that each of them was
// enabled whenever the task ran, on whichever CPU, but it can be on a counter on its own CPU only. So enabled / running
// of one CPU is no measure of multiplexing: a task that ran on two CPUs half of the time each would be scaled to twice
// its count (perf refuses -A for a task). Over all CPUs together it is: what the task's running times lack is the time
// that other events had the counters.
#pragma once

#include <span>

#include "anyperf/count.h"
#include "anyperf/target.h"

namespace anyperf::cli::stat {

/// Corrects the counts of one event in all places of a set; counts[i] is of places[i]. Those of CPUs, and of tasks on
/// any CPU, stay. The others are of tasks in a place for each online CPU: a place's share of the time that the task was
/// enabled is that of its running time, so that all CPUs of a task are scaled alike, and none if the event always had a
/// counter. Places are read one after the other while the task may go on; a thousandth of its time counts as none.
void divide_enabled_time(std::span<const counting::Place> places, std::span<counting::Count> counts);

}  // namespace anyperf::cli::stat

// task_time.h: divides the time for which a task's event was enabled among the CPUs to which its events are bound.
//
// With -A and --per-core the event of a task is opened once for each CPU. The kernel reports each of these events as
// enabled whenever the task ran, on whichever CPU. But each can be on a counter only while the task runs on its own
// CPU. So enabled / running of one CPU is not a measure of multiplexing: a task that ran on two CPUs, half of the time
// on each, would be scaled to twice its count. (perf refuses -A for a task.) The sum of the running times over all CPUs
// is a measure. The enabled time that it lacks is the time during which other events had the counters.
#pragma once

#include <span>

#include "anyperf/count.h"
#include "anyperf/target.h"

namespace anyperf::cli::stat {

/// Corrects the times of one event's counts in all places of a set, and scales the counts anew; counts[i] is that of
/// places[i]. Only places that are a task on one CPU change. Each gets the part of the task's enabled time that its
/// running time has in the sum of all CPUs, so that all CPUs of a task are scaled alike. If the event always had a
/// counter, enabled and running time become equal, and nothing is scaled. "Always" allows for a thousandth of the
/// enabled time, because the places are read one after the other while the task may run.
void divide_enabled_time(std::span<const counting::Place> places, std::span<counting::Count> counts);

}  // namespace anyperf::cli::stat

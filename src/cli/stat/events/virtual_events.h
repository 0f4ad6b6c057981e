// virtual_events.h: how events are changed for the virtual PMU of a run, and what people must know about their counts.
#pragma once

#include <optional>
#include <string>

#include "anyperf/counter_set.h"
#include "anyperf/error.h"
#include "anyperf/event.h"
#include "anyperf/event_names.h"
#include "host/root.h"

namespace anyperf::cli::stat {

/// Whether the event belongs to the CPU's PMU: hardware, cache and raw events. Others belong to the kernel or the run.
bool is_cpu_event(const events::Event& event);

/// Whether the virtual PMU computes the count from a cost model (docs/models.md) instead of counting it. Clocks are
/// modelled in a `deterministic` run only.
bool is_modelled(const events::Event& event, bool deterministic);

/// Whether models of caches, TLBs or branch predictors compute the count.
bool uses_models(const events::Event& event);

/// The machine of these models, of the presented machine whose files these are; empty if they are another machine's.
std::string modelled_machine_of_run(const host::Root& root);

/// Whether the count includes anyperf's own work. In a run anyperf works in the program's threads: it translates code
/// and asks the broker, which takes CPU time; a thread that runs longer is also preempted and moved more often.
/// Page faults are the program's alone.
bool has_own_share(const events::Event& event);

/// Whether a run counts this event of the CPU, or software event. `names`: those by which the event was parsed.
bool is_counted_in_user_space(const events::Event& event, const events::EventNames& names);

/// The event to open on the virtual PMU: CPU events are limited to user mode, which is all that the virtual PMU sees,
/// so that the right to count kernel mode is not needed; AMD's codes are translated, since the virtual PMU is an Intel
/// one. A tracepoint of `perf probe -x` becomes the uprobe that it is: the kernel's own breakpoint would be in code
/// that is never executed, since the engine executes its translation.
events::Event for_virtual_pmu(events::Event event);

/// Why the virtual PMU does not count the event, in words about the virtual PMU instead of the kernel; nothing if it
/// does. `refusal` is the failed open, or null.
std::optional<Error> why_not_counted(const events::Event& event, const counting::Refusal* refusal);

}  // namespace anyperf::cli::stat

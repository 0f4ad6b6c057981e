// virtual_events.h: how `stat` changes events for the virtual PMU of a run, and what users must know about their
// counts.
#pragma once

#include <optional>
#include <string>

#include "anyperf/counter_set.h"
#include "anyperf/error.h"
#include "anyperf/event.h"
#include "anyperf/event_names.h"
#include "host/root.h"

namespace anyperf::cli::stat {

/// Whether the event is a hardware, cache or raw event by its type. The CPU's PMU counts those.
bool is_cpu_event(const events::Event& event);

/// Whether the virtual PMU computes the count from a model (docs/models.md) instead of counting it: from the cost
/// model, or from the models of caches and branches. In a `deterministic` run clocks are computed from instructions.
bool is_modelled(const events::Event& event, bool deterministic);

/// Whether models of caches, TLBs or branch predictors compute the count.
bool uses_models(const events::Event& event);

/// The name of the machine whose caches and branch predictors a run models. Reads it from the files of the presented
/// machine below `root`; empty if the files are not those of a presented machine.
std::string modelled_machine_of_run(const host::Root& root);

/// Whether the count includes anyperf's own work. In a run anyperf translates code and makes requests to the broker in
/// the program's threads. This work takes CPU time. A thread that runs longer is also preempted and migrated more
/// often. Counts of page faults have no such share.
bool has_own_share(const events::Event& event);

/// Whether the event is a CPU event (is_cpu_event()) or a software event, and a run counts it. False for every other
/// event, whether a run counts it or not. `names` are the names by which the event was parsed.
bool is_counted_in_user_space(const events::Event& event, const events::EventNames& names);

/// The event to open on the virtual PMU:
/// - A CPU event excludes kernel mode. The virtual PMU sees only user mode, so the user needs no right to count the
///   kernel.
/// - An event that was typed by an AMD name gets the code of the same quantity on the virtual PMU, an Intel PMU.
/// - A tracepoint that `perf probe -x` has defined becomes a uprobe of the run. The kernel's own breakpoint would never
///   be reached, because it is in the program's code and the engine executes a translation of that code.
events::Event for_virtual_pmu(events::Event event);

/// Why the virtual PMU does not count the event, in words about the virtual PMU instead of the kernel. nullopt if it
/// counts the event. `refusal` is the refusal of the open, or null if the open succeeded.
std::optional<Error> why_not_counted(const events::Event& event, const counting::Refusal* refusal);

}  // namespace anyperf::cli::stat

// checked_events.h: the events of a machine, each with what it needs to be opened there. Private to `list`.
//
// Whether an event can be opened is found out by opening one (host/usability.h), but a machine may name thousands. So
// events that are accepted or refused alike share one open: all tracepoints, all events of a PMU, and all hardware and
// cache events of a machine without a core PMU. Software events are opened one by one, since they differ in the rights
// that they need. So are hardware and cache events of a machine with a core PMU, since such PMUs differ in which of
// them they have.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/event.h"
#include "events/names/listing.h"
#include "host/root.h"
#include "host/usability.h"

namespace anyperf::cli {

/// An event and what it needs.
struct CheckedEvent {
    events::ListedEvent event;
    host::Use use = host::Use::yes;
    /// Whether the virtual PMU computes the count, instead of counting what retires. Not set if the kernel counts it.
    bool modelled = false;
    std::string machine;  ///< in a run: the machine that is modelled, if its caches or branch predictor decide
};

/// The events of one kind, or of one PMU.
struct CheckedList {
    events::NameOrigin kind = events::NameOrigin::hardware;
    std::string pmu;  ///< as in events::EventList
    std::vector<CheckedEvent> events;
    std::vector<host::Usability> reasons;  ///< one for each Use but `yes`: that of the first event with it
    Error unreadable;                      ///< why the events cannot be listed; `what` is empty if they can
};

/// Whether a pattern is for tracepoints: the word for their kind, or "SYSTEM:NAME".
bool asks_for_tracepoints(std::string_view pattern);

/// The events that match one of `patterns`, or all if there is no pattern. A pattern is a kind in perf's words (hw, sw,
/// cache, tracepoint, pmu, catalog), else a shell pattern for the whole name, else a part of the name. Case does not
/// matter. `every_cpu` adds the catalog's events of CPUs that this machine does not have; these are never opened.
std::vector<CheckedList> check_events(const events::Machine& machine, const host::Root& root,
                                      std::span<const std::string> patterns, bool every_cpu = false);

}  // namespace anyperf::cli

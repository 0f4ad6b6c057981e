// usable_events.h: the events of a machine with what each needs here. Private to `list`.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "anyperf/event.h"
#include "events/listing.h"
#include "host/root.h"
#include "host/usability.h"

namespace anyperf::cli {

struct UsableEvent {
    events::ListedEvent event;
    host::Use use = host::Use::yes;
};

struct UsableList {
    events::Listed kind = events::Listed::hardware;
    std::string pmu;
    std::vector<UsableEvent> events;
    std::vector<host::Usability> reasons;  ///< of the first event that is not usable, for each way of not being so
    Error unreadable;                      ///< why none can be listed; `what` is empty where that is not so
};

/// Those that match one of `patterns`: all where there is none. A pattern is a shell pattern of the whole name, else a
/// part of it, else one of perf's words for a kind (hw, sw, cache, tracepoint, pmu); case doesn't matter. Hardware and
/// cache events are opened once each where the machine has a PMU for them, else one stands for all; of a PMU and of
/// tracepoints one event is opened.
/// `every_cpu`: also the catalog of CPUs that this machine doesn't have.
std::vector<UsableList> usable_events(const events::Machine& machine, const host::Root& root,
                                      std::span<const std::string> patterns, bool every_cpu = false);

}  // namespace anyperf::cli

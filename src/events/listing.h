// listing.h: the names that event strings may use on a machine, by where they come from. What `anyperf list` shows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "anyperf/event.h"

namespace anyperf::events {

enum class Listed : std::uint8_t { hardware, cache, software, pmu, catalog, tracepoint, syntax };

struct ListedEvent {
    std::string name;    ///< as it is typed: "cycles", "msr/tsc/", "sched:sched_switch"
    std::string alias;   ///< another spelling; may be empty
    std::string detail;  ///< the terms behind a PMU's event, its umasks, or what a form stands for; may be empty
    std::string unit;    ///< of the scaled value; empty: a plain count
};

struct EventList {
    Listed kind = Listed::hardware;
    bool foreign = false;             ///< of another machine's CPU
    std::string pmu;                  ///< name in sysfs; "tracepoint"; empty where the kernel chooses, and for forms
    std::vector<ListedEvent> events;  ///< in the order to show them
    std::optional<Error> unreadable;  ///< why there are none though there may be
};

/// Hardware, cache and software events, those of each PMU's events/, tracepoints, and the forms that name other events
/// (raw codes, PMU terms, breakpoints, probes). Tracepoints' own files are not opened: their names are enough.
/// Of the catalog, the PMUs of this CPU; with `every_cpu` all, whose events then have the PMU's name in front.
std::vector<EventList> list_events(const Machine& machine, bool every_cpu = false);

}  // namespace anyperf::events

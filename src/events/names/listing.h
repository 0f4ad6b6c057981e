// listing.h: the names that event strings may use on a machine, by their origin. `anyperf list` shows them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "anyperf/event.h"

namespace anyperf::events {

/// Where names come from. `vendor`: the lists of the vendors with perf's names (vendor/vendor_lists.h). `syntax`:
/// forms, such as rNNN, that name events which are not listed.
enum class NameOrigin : std::uint8_t { hardware, cache, software, pmu, catalog, vendor, tracepoint, syntax };

/// A name, or a form with placeholders.
struct ListedEvent {
    std::string name;    ///< as it is typed: "cycles", "msr/tsc/", "sched:sched_switch"
    std::string alias;   ///< another spelling; may be empty
    std::string detail;  ///< the terms of a PMU's event, unit masks, or the meaning of a form; may be empty
    std::string unit;    ///< of the scaled value; empty: a plain count
};

/// The names of one origin, and of one PMU.
struct EventList {
    NameOrigin kind = NameOrigin::hardware;
    bool foreign = false;  ///< of a CPU that this machine does not have
    std::string pmu;  ///< name in sysfs or the catalog; "tracepoint"; empty for events of the kernel, and for forms
    std::vector<ListedEvent> events;  ///< in the order to show them
    std::optional<Error> unreadable;  ///< why the list could not be read; nothing if it could
};

/// Lists hardware, cache and software events, those in events/ of each PMU, the events of the catalog, perf's names of
/// the events of this CPU's cores and of other PMUs of the machine, tracepoints, and the forms that name other events
/// (raw codes, PMU terms, breakpoints, probes). Of tracepoints only the names are read, not their files. Of the catalog
/// it lists the PMUs of this CPU; with `every_cpu` all PMUs, those of other CPUs with the prefix in their names.
std::vector<EventList> list_events(const Machine& machine, bool every_cpu = false);

}  // namespace anyperf::events

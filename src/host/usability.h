// usability.h: whether an event can be opened here, and if not, what it needs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"
#include "host/kernel.h"
#include "host/root.h"

namespace anyperf::host {

enum class Use : std::uint8_t {
    yes,
    user_only,        ///< with the modifier u
    needs_privilege,  ///< the process may not; another could
    no_pmu,           ///< nothing on this machine counts it
    blocked,          ///< perf_event_open is refused whatever its arguments
    no_tracefs,       ///< its number can't be looked up
    unsupported,      ///< the PMU is there and refuses it
};

/// "usable", "user mode only", "needs privilege" …, for a table.
std::string_view words(Use use);
/// The same for scripts: "yes", "user-only", "needs-privilege" …
std::string_view id(Use use);

struct Usability {
    Use use = Use::yes;
    Error why;  ///< empty where use is yes; for user_only why the kernel can't be counted too
};

/// Opens the event once, without exclude_kernel where it has none, then with it. Of another machine (`root`) it is told
/// from its PMUs, paranoid level and capabilities.
Usability usability(const OpenCall& call, std::string_view event, const Root& root,
                    const Kernel& kernel = this_kernel());

/// Where a seccomp filter ends the process that calls perf_event_open: says so, having tried it in a child.
std::optional<Error> why_opening_kills(std::string_view event, const Root& root = Root{},
                                       const Kernel& kernel = this_kernel());

/// A way to measure, and whether it works here.
struct WayToMeasure {
    std::string_view id;        ///< "hardware"
    std::string_view title;     ///< "hardware events"
    std::string_view examples;  ///< "cycles, instructions, cache-misses"
    Usability usability;
};

/// Hardware and software events, tracepoints, breakpoints, uprobes, whole CPUs: one open for each.
std::vector<WayToMeasure> ways_to_measure(const Root& root, const Kernel& kernel = this_kernel());

}  // namespace anyperf::host

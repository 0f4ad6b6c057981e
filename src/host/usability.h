// usability.h: whether an event can be opened on a machine, and if not, what it needs. `anyperf list` and the verdict
// of `anyperf explain` come from here. On this machine the event is really opened; on another the answer is derived
// from files, and can only be as good as those.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"
#include "host/kernel/kernel_probe.h"
#include "host/root.h"

namespace anyperf::host {

/// How far an event can be used.
enum class Use : std::uint8_t {
    yes,
    user_only,        ///< it opens with the modifier u
    needs_privilege,  ///< this process may not open it; one with more rights could
    no_pmu,           ///< no PMU of this machine counts it
    blocked,          ///< perf_event_open is refused whatever its arguments
    no_tracefs,       ///< its number can't be looked up
    unsupported,      ///< the PMU exists and refuses it
    unknown,          ///< the copy of another machine lacks the files that decide it
    user_space,  ///< the virtual PMU of a run counts it instead; usability() asks the kernel and never returns this
};

/// "usable", "user mode only", "needs privilege" …, for a table.
std::string_view words(Use use);
/// The same for scripts, stable: "yes", "user-only", "needs-privilege" …
std::string_view id(Use use);

/// The answer for one event.
struct Usability {
    Use use = Use::yes;
    Error why;  ///< the reason; empty if `use` is yes. For user_only: why kernel mode can't be counted
};

/// Opens the event as `call` says, and if that is refused for lack of rights, again with exclude_kernel. `event` is its
/// name for messages. If `root` is another machine, the answer comes from its PMUs, paranoid level and capabilities.
Usability usability(const OpenCall& call, std::string_view event, const Root& root,
                    const Kernel& kernel = this_kernel());

/// Why the files of a copied machine don't show whether the event can be opened; nothing if they do, or if `root` is
/// this machine.
std::optional<Error> why_unknown(std::string_view event, const Root& root);

/// The Error if a seccomp filter kills a process that calls perf_event_open, which is tried in a child process. Empty
/// otherwise. Ask it before the first open.
std::optional<Error> why_opening_kills(std::string_view event, const Root& root = Root{},
                                       const Kernel& kernel = this_kernel());

/// A kind of events, with whether it works on the machine.
struct WayToMeasure {
    std::string_view id;        ///< "hardware"
    std::string_view title;     ///< "hardware events"
    std::string_view examples;  ///< "cycles, instructions, cache-misses"
    Usability usability;
};

/// The kinds of events, each judged by one example: hardware and software events, scheduler events, tracepoints,
/// breakpoints, uprobes, whole CPUs.
std::vector<WayToMeasure> ways_to_measure(const Root& root, const Kernel& kernel = this_kernel());

}  // namespace anyperf::host

// finding.h: one fact about the machine that decides which performance events work, with its evidence and, if it is a
// problem, its effect and its fix. `anyperf explain` prints a line for each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace anyperf::host {

enum class Severity : std::uint8_t {
    ok,      ///< checked, and not a problem
    note,    ///< worth knowing; no event fails because of it
    limits,  ///< some events, or some ways to measure, don't work
    blocks,  ///< a whole kind of events doesn't work
};

/// The word in the output. It must not change, because scripts read it.
constexpr std::string_view name(Severity severity) {
    switch (severity) {
        case Severity::ok: return "ok";
        case Severity::note: return "note";
        case Severity::limits: return "limits";
        case Severity::blocks: return "blocks";
    }
    return "";
}

/// All texts are single lines without a final period.
struct Finding {
    std::string id;        ///< "paranoid", "hardware-pmu"; must not change, because scripts read it
    std::string title;     ///< the fact in one line
    std::string evidence;  ///< the value that was found, and the file or call that it came from
    std::string effect;    ///< the consequence for events; may be empty if severity is ok
    std::string fix;       ///< what to do; empty if there is nothing to do
    Severity severity = Severity::ok;
};

}  // namespace anyperf::host

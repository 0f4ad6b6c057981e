// finding.h: one thing found out about the machine that decides which performance events work.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace anyperf::host {

enum class Severity : std::uint8_t {
    ok,      ///< looked at, and nothing stands in the way
    note,    ///< worth knowing; takes nothing away
    limits,  ///< some events, or some ways to measure, don't work
    blocks,  ///< a whole kind of events doesn't work
};

constexpr std::string_view name(Severity severity) {
    switch (severity) {
        case Severity::ok: return "ok";
        case Severity::note: return "note";
        case Severity::limits: return "limits";
        case Severity::blocks: return "blocks";
    }
    return "";
}

struct Finding {
    std::string id;        ///< stable, for scripts: "paranoid", "hardware-pmu"
    std::string title;     ///< what holds, in a line
    std::string evidence;  ///< the value and the file or call that it came from
    std::string effect;    ///< what that means for events; may be empty where severity is ok
    std::string fix;       ///< what to do; empty where there is nothing to do
    Severity severity = Severity::ok;
};

}  // namespace anyperf::host

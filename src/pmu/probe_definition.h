// probe_definition.h: a line of uprobe_events, understood (Documentation/trace/uprobetracer.rst of Linux): a place in a
// file that becomes a tracepoint, and the values that its records have.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pmu/tracepoints.h"
#include "subsystem/answer.h"
#include "subsystem/shared/probe.h"

namespace anyperf::pmu {

struct ProbeArgument {
    std::string name;
    std::string text;   ///< as it was written, name apart
    std::string type;   ///< "u64", "string"
    char format = 'x';  ///< how it is printed: x, u, d, s
    subsystem::ProbeValue value;
};

struct ProbeDefinition {
    enum class Kind : std::uint8_t { reached, left, removed };

    Kind kind = Kind::reached;
    std::string system;  ///< of `removed` it may be empty: any
    std::string name;    ///< of `removed` it may be empty: all of the system
    std::string path;
    std::uint64_t offset = 0;
    std::uint64_t counter_offset = 0;
    std::vector<ProbeArgument> arguments;
};

/// One line without its end. EINVAL where it can't be understood; E2BIG for too many arguments.
subsystem::Answer<ProbeDefinition> parse_probe(std::string_view line);

/// As tracefs lists it, with its end of line.
std::string probe_text(const ProbeDefinition& definition);

/// How records of it are made; where they end is their `bytes`.
subsystem::ProbeRecord record_of(const ProbeDefinition& definition);

/// It as a tracepoint, without number and source.
Tracepoint tracepoint_of(const ProbeDefinition& definition);

}  // namespace anyperf::pmu

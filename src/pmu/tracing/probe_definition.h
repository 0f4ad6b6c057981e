// probe_definition.h: a parsed line of uprobe_events (Documentation/trace/uprobetracer.rst of Linux). The line defines
// a uprobe or uretprobe at an offset of a file, gives it a tracepoint's name, and lists the values in its records:
//
//   p:GROUP/EVENT PATH:OFFSET NAME=%di:u32 NAME=+0(%si):string
//
// Arrays, bit fields, symbols (@SYM) and $argN are not supported.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "pmu/tracing/tracepoint_table.h"
#include "subsystem/answer.h"
#include "subsystem/shared/probe.h"

namespace anyperf::pmu {

/// A value that records of the probe contain.
struct ProbeArgument {
    std::string name;
    std::string text;             ///< as written, without the name: "+0(%si):string"
    std::string type;             ///< of the field in the tracepoint's format file: "u64", "__data_loc char[]"
    char format = 'x';            ///< how "print fmt" prints it: x, u, d or s
    subsystem::ProbeValue value;  ///< how a measured thread computes it
};

/// A line of the file.
struct ProbeDefinition {
    enum class Kind : std::uint8_t { uprobe, uretprobe, removal };

    Kind kind = Kind::uprobe;
    std::string system;        ///< the group; empty in a removal: any group
    std::string name;          ///< the event; empty in a removal: every event of the group
    std::string path;          ///< as written
    std::uint64_t offset = 0;  ///< of the instruction in the file
    std::uint64_t reference_counter_offset = 0;
    std::vector<ProbeArgument> arguments;
};

/// Parses a line, without its newline. EINVAL: it is not valid, or not supported. E2BIG: too many arguments.
subsystem::Answer<ProbeDefinition> parse_probe(std::string_view line);

/// The line as the file lists it, with its newline.
std::string probe_text(const ProbeDefinition& definition);

/// How measured threads make a record: the offset and computation of each value, and the record's size without strings.
subsystem::ProbeRecord record_of(const ProbeDefinition& definition);

/// The tracepoint that the definition creates. The caller sets its number and source.
Tracepoint tracepoint_of(const ProbeDefinition& definition);

}  // namespace anyperf::pmu

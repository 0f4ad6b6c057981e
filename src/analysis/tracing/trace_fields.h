// trace_fields.h: fields of tracepoints as keys of reports: perf's "dynamic sort keys" (perf-report(1), --sort).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "perfdata/reader.h"

namespace anyperf::analysis {

/// The parts of "sched:sched_switch.prev_state/raw". They are views of the text.
struct TraceField {
    explicit TraceField(std::string_view text);

    std::string_view event;  ///< "sched:sched_switch" or "sched_switch"; empty: all that have the field
    std::string_view name;   ///< "prev_state"; "*": all fields of the event
    bool raw = false;        ///< as in the sample, not as the tracepoint prints it

    bool is_of(std::string_view recorded_event) const;
};

/// What a tracepoint prints for a field: the word after "name=" or "name:". Empty if it prints no such word. perf does
/// the same, which shows "R" for the number of a state (__sort__hde_entry() in tools/perf/util/sort.c).
std::string_view printed_value(std::string_view text, std::string_view field);

/// The fields that a name selects: the field of that name, or with "trace_fields" and "EVENT.*" all fields of the
/// recording's tracepoints, in their order, each once. Empty: no tracepoint has a field of this name. Of a pipe the
/// tracepoints are not known before it is read.
std::vector<std::string> known_trace_fields(const perfdata::Reader& reader, const std::string& name);

}  // namespace anyperf::analysis

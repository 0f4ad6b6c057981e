// trace_filter.h: parses the text of a tracepoint's filter (PERF_EVENT_IOC_SET_FILTER; Documentation/trace/events.rst,
// "Event filtering") into steps that measured threads evaluate for each occurrence (subsystem/shared/filter.h).
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "pmu/tracing/tracepoint_table.h"
#include "subsystem/answer.h"
#include "subsystem/shared/filter.h"

namespace anyperf::pmu {

/// Parses a filter over the tracepoint's `fields`, the common fields, CPU and COMM. Errors are those of Linux 6.18:
/// EPERM: a predicate does not begin with a field, is not followed by && or ||, or a `)` is unmatched.
/// ENOENT: a `(` is not closed. ESRCH: a quote is not closed. EINVAL: anything else, and a filter that is too long.
subsystem::Answer<std::unique_ptr<subsystem::Filter>> parse_filter(std::string_view text,
                                                                   std::span<const TraceField> fields);

}  // namespace anyperf::pmu

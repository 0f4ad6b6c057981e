// trace_filter.h: the text of a tracepoint's filter, understood (Documentation/trace/events.rst, "Event filtering").
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "pmu/tracepoints.h"
#include "subsystem/answer.h"
#include "subsystem/shared/filter.h"

namespace anyperf::pmu {

/// A filter over the common fields, `own`, CPU and COMM. Refusals are Linux 6.18's own: EINVAL; EPERM for what begins
/// without a field, for a `)` too many and for what follows a predicate; ENOENT for a `(` and ESRCH for a quote without
/// an end.
subsystem::Answer<std::unique_ptr<subsystem::Filter>> parse_filter(std::string_view text,
                                                                   std::span<const TraceField> own);

}  // namespace anyperf::pmu

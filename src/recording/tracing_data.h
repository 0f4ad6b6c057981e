// tracing_data.h: the feature TRACING_DATA of perf.data: the formats of tracepoints. Readers need them to find the
// fields in the raw bytes of a sample, and perf refuses a recording of tracepoints without them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "host/root.h"
#include "recording/sampling.h"

namespace anyperf::recording {

/// The formats of the tracepoints among `events`, from the tracefs below `root`. Empty if there are no tracepoints.
/// Error: tracefs cannot be read.
Result<std::vector<std::byte>> tracing_data(const host::Root& root, std::span<const SampledEvent> events);

}  // namespace anyperf::recording

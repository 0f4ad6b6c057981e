// tracing_data.h: the formats of tracepoints' fields, as perf.data has them (TRACING_DATA): readers need them to find
// the fields in a sample's bytes, and perf opens no recording of a tracepoint without them.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "host/root.h"
#include "recording/sampling.h"

namespace anyperf::recording {

/// The formats of the tracepoints among `events` (by their names, "system:event"), from the tracefs below `root`; empty
/// if there are no tracepoints. Error: tracefs cannot be read.
Result<std::vector<std::byte>> tracing_data(const host::Root& root, std::span<const SampledEvent> events);

}  // namespace anyperf::recording

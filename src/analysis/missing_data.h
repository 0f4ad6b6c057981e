// missing_data.h: what a reader was asked for and the recording does not have. perf says so as well; a report of no
// samples, or of zeros, would look like an answer.
#pragma once

#include "analysis/read_options.h"
#include "anyperf/error.h"
#include "perfdata/reader.h"

namespace anyperf::analysis {

/// Whether the samples of some event have one of these fields (bits of sample_type). True while no event is known: in
/// pipe mode they come with the records.
bool some_event_has(const perfdata::Reader& reader, std::uint64_t sample_bits);

/// Error: samples are chosen by their CPU, and have none.
Result<void> check_cpus(const perfdata::Reader& reader, const std::vector<bool>& chosen);

/// The same of all that the options need.
Result<void> check_data(const perfdata::Reader& reader, const ReadOptions& options);

}  // namespace anyperf::analysis

// sample_text.h: all fields of a sample, as `report -D` prints them.
#pragma once

#include <string>

#include "anyperf/attr.h"
#include "perfdata/sample_layout.h"

namespace anyperf::cli {

/// Appends "PERF_RECORD_SAMPLE…" and a line for each field. `record` is the sample as it was recorded: of the samples
/// that a leader reads, `sample` has another period.
void add_sample_text(const perfdata::Sample& sample, const abi::Attr& attr, perfdata::Bytes record, std::string& text);

}  // namespace anyperf::cli

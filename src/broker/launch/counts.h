// counts.h: the instruction counts of a run as the JSON object of `anyperf run --count`. They include threads that were
// killed, which cannot report: their counts are read from their thread pages. To be called after the run.
#pragma once

#include <nlohmann/json.hpp>

#include "broker/launch/run.h"

namespace anyperf::broker {

/// {"total": {class: count}, "processes": [{"pid", "comm", "exe", "exit", "threads": [{"tid", "comm", "counts"}]}]}.
/// `exit` is the exit status, 128 + N after death by signal N, or null if the end of the process was not seen.
nlohmann::ordered_json counts_of(const RunResult& result);

/// The instruction classes of a comma-separated list, as a ClassSet; all of them for "" and "all". Error: an unknown
/// name; it lists the valid ones.
Result<std::uint32_t> parse_classes(const std::string& list);

}  // namespace anyperf::broker

// counts.h: the instruction counts of a run, as the JSON object of `anyperf run --count`. A thread that was killed has
// written no record; its counts come from its thread page. Call after the end of the run.
#pragma once

#include <nlohmann/json.hpp>

#include "broker/launch/run.h"

namespace anyperf::broker {

/// {"total": {class: count}, "processes": [{"pid", "comm", "exe", "exit", "threads": [{"tid", "comm", "counts"}]}]}.
/// `exit` is the exit status, 128 + N if signal N ended the process, or null if it is not known.
nlohmann::ordered_json counts_of(const RunResult& result);

/// The instruction classes in a comma-separated list, as a ClassSet; all classes for "" and "all". Error: a name is
/// unknown; the message lists the valid ones.
Result<std::uint32_t> parse_classes(const std::string& list);

}  // namespace anyperf::broker

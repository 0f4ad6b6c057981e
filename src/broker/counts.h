// counts.h: what a run has counted, as the JSON object of `anyperf run --count`.
#pragma once

#include <nlohmann/json.hpp>

#include "broker/run.h"

namespace anyperf::broker {

/// {"total": {class: count}, "processes": [{"pid", "comm", "exe", "exit", "threads": [{"tid", "comm", "counts"}]}]}.
/// `exit` is the exit status, 128 + N for a death by signal N, null where nobody has seen it end.
nlohmann::ordered_json counts_of(const RunResult& result);

/// Classes by name, from a comma list; empty: all of them. The Error lists the names there are.
Result<std::uint32_t> parse_classes(const std::string& list);

}  // namespace anyperf::broker

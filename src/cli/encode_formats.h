// encode_formats.h: how `anyperf encode` writes an event.
#pragma once

#include <string>
#include <vector>

#include "anyperf/event.h"

namespace anyperf::cli {

/// Field by field for people; `all` shows those that are zero too.
std::string encoded_as_text(const std::vector<events::EventGroup>& groups, bool all);

/// {"groups": [{"name", "weak", "events": [{"name", …, "attr": {field: number}}]}]}
std::string encoded_as_json(const std::vector<events::EventGroup>& groups, bool all);

/// A C initialiser for each event, to paste behind #include <linux/perf_event.h>.
std::string encoded_as_c(const std::vector<events::EventGroup>& groups);

}  // namespace anyperf::cli

// encode_formats.h: how `anyperf encode` writes an event.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "anyperf/event.h"

namespace anyperf::cli {

/// The catalog's names for what an event counts: "skl::INST_RETIRED:ANY_P".
using NamesOf = std::function<std::vector<std::string>(const events::Event&)>;

/// Field by field for people; `all` shows those that are zero too.
std::string encoded_as_text(const std::vector<events::EventGroup>& groups, bool all, const NamesOf& names_of);

/// {"groups": [{"name", "weak", "events": [{"name", …, "attr": {field: number}, …, "names": []}]}]}
std::string encoded_as_json(const std::vector<events::EventGroup>& groups, bool all, const NamesOf& names_of);

/// A C initialiser for each event, to paste behind #include <linux/perf_event.h>.
std::string encoded_as_c(const std::vector<events::EventGroup>& groups);

}  // namespace anyperf::cli

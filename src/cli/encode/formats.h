// formats.h: the output formats of `anyperf encode`: text, JSON and C. All three show the fields of
// abi/describe.h, so that a new attr field appears in each of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "anyperf/event.h"

namespace anyperf::cli {

/// Returns the catalog's names for what an event counts ("skl::INST_RETIRED:ANY_P"). Empty if the catalog has no name.
using NameLookup = std::function<std::vector<std::string>(const events::Event&)>;

/// One line for each field. `all` also shows the fields that are zero.
std::string encoded_as_text(const std::vector<events::EventGroup>& groups, bool all, const NameLookup& names_of);

/// One object: {"groups": [{"name", "weak", "events": [{"name", …, "attr": {field: number}, …, "names": []}]}]}. "type"
/// is null if this machine does not have the PMU. "names" and other facts besides the attr are there only if they are
/// known.
std::string encoded_as_json(const std::vector<events::EventGroup>& groups, bool all, const NameLookup& names_of);

/// A C initialiser for each event, to paste after #include <linux/perf_event.h>. Fields that are zero are left out.
std::string encoded_as_c(const std::vector<events::EventGroup>& groups);

}  // namespace anyperf::cli

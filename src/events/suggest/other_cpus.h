// other_cpus.h: errors for a name that other CPUs have and this machine does not: which CPUs have it, and what the most
// similar events here are.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/machine/machine_data.h"
#include "events/syntax/parse_error.h"

namespace anyperf::events {

/// The error for an event of other CPUs; nothing if no CPU of the catalog has an event of that name. `event` is the
/// piece of the string to mark.
std::optional<ParseError> explain_event_of_other_cpus(const Machine::Data& machine, std::string_view event);

/// The error for "PMU::EVENT…" if the machine has no such PMU: the code of the event means something else here. `at` is
/// the piece of the string to mark.
ParseError explain_absent_pmu(const Machine::Data& machine, std::string_view at, std::string_view pmu,
                              std::string_view event);

/// At most three of `known` that share most words with `typed`. Words are separated by '_', '-', '.' or ':', and may be
/// abbreviated: INST_RETIRED is similar to RETIRED_INSTRUCTIONS. Most similar first.
std::vector<std::string> names_with_similar_words(std::string_view typed, std::span<const std::string> known);

}  // namespace anyperf::events

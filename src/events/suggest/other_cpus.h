// other_cpus.h: errors for an event name that this machine does not have but other CPUs do. They name these CPUs and
// the most similar events of this machine.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/machine/machine_data.h"
#include "events/syntax/parse_error.h"

namespace anyperf::events {

/// The error for an event of other CPUs; nothing if no CPU of the catalog has an event of that name. It marks
/// `event`, which is a part of the string that the user typed.
std::optional<ParseError> explain_event_of_other_cpus(const Machine::Data& machine, std::string_view event);

/// The error for "PMU::EVENT…" if the machine has no such PMU; the event's code would mean something else here. The
/// message marks `at`, which is a part of the string that the user typed.
ParseError explain_absent_pmu(const Machine::Data& machine, std::string_view at, std::string_view pmu,
                              std::string_view event);

/// The names in `known` that have the most words in common with `typed`: at most three, the most similar first. Words
/// are separated by '_', '-', '.' or ':'. Abbreviations count: INST_RETIRED is similar to RETIRED_INSTRUCTIONS.
std::vector<std::string> names_with_similar_words(std::string_view typed, std::span<const std::string> known);

}  // namespace anyperf::events

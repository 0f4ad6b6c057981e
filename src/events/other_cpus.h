// other_cpus.h: what to say of a name that other CPUs have and this one has not: whose it is, and what this CPU calls
// the nearest thing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "events/fault.h"
#include "events/machine_data.h"

namespace anyperf::events {

/// Nothing where no CPU of the catalog has an event of that name. `event` is the piece of the string to mark.
std::optional<Fault> of_other_cpus(const Machine::Data& machine, std::string_view event);

/// "PMU::EVENT…" where the machine has no such PMU: its code means something else here. `at` is the piece to mark.
Fault of_an_absent_pmu(const Machine::Data& machine, std::string_view at, std::string_view pmu, std::string_view event);

/// The few of `known` that share most words with `typed`; a word is what stands between '_', '-' or '.', and may be
/// shortened: INST_RETIRED is near RETIRED_INSTRUCTIONS. Nearest first.
std::vector<std::string> names_of_similar_words(std::string_view typed, std::span<const std::string> known);

}  // namespace anyperf::events

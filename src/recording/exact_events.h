// exact_events.h: the events and samples of a recording of exact counts. The events were never opened: they only give
// the counts a form that every reader of perf.data files knows.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "perfdata/file_header.h"
#include "recording/exact_profile.h"

namespace anyperf::recording {

/// The two events, with the ids `first_id` and `first_id + 1`:
/// - `instructions:u`: one sample for each address; its period is how often the instruction there retired.
/// - `calls:u`: one sample for each pair of a call site and a function; its period is how often the one called the
///   other, its call chain is the function and where the call returns to.
std::array<perfdata::EventInfo, 2> exact_events(std::uint64_t first_id);

/// The sample of a count. `event` is one of exact_events().
std::vector<std::byte> exact_sample(const ExactCount& count, const perfdata::EventInfo& event);

}  // namespace anyperf::recording

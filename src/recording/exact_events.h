// exact_events.h: the events of a recording of exact counts, and its samples. They were never opened: they give readers
// of perf.data files what was counted in the form that all of them know.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "perfdata/file_header.h"
#include "recording/exact_profile.h"

namespace anyperf::recording {

/// `instructions:u`, whose samples have the number of times that an instruction retired as their period, and `calls:u`,
/// whose samples have that of a call, and as their call chain what was called and by whom. Ids are `first_id` and the
/// next one.
std::array<perfdata::EventInfo, 2> exact_events(std::uint64_t first_id);

/// The sample of a count, by the event with this index of exact_events().
std::vector<std::byte> exact_sample(const ExactCount& count, const perfdata::EventInfo& event);

}  // namespace anyperf::recording

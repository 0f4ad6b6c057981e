// read.h: read(2) of an event or its group: counts, times and losses, each with those of the event's children.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// The size of the answer in bytes, by read_format and the group's present size.
std::size_t answer_bytes(const Event& event);

/// The answer in the layout of read_format. Empty in error state; ENOSPC if the buffer is too small.
Answer<std::vector<std::uint64_t>> read_event(World& world, Event& event, std::size_t buffer_bytes);

}  // namespace anyperf::subsystem

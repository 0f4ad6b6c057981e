// read.h: what read(2) of an event answers: its own count and those of its children, of one event or of its group.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "subsystem/shared/read_layout.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

/// An event's count and times, with those of all that was inherited from it.
struct Total {
    MemberValue member;
    std::uint64_t enabled = 0;
    std::uint64_t running = 0;
};
Total total(World& world, Event& event);

/// The event's alone, as a READ record or its parent wants it.
Total own_total(World& world, Event& event);

/// Bytes of the answer as the group stands now.
std::size_t answer_bytes(const Event& event);

Answer<std::vector<std::uint64_t>> read_event(World& world, Event& event, std::size_t buffer_bytes);

}  // namespace anyperf::subsystem

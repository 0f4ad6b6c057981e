// totals.h: an event's count, losses and times, alone or with those of the event's children.
#pragma once

#include <cstdint>

#include "subsystem/shared/read_layout.h"
#include "subsystem/world.h"

namespace anyperf::subsystem {

struct Total {
    MemberValue member;
    std::uint64_t enabled = 0;
    std::uint64_t running = 0;
};

/// The event's own, and those of its living and ended children.
Total total(World& world, Event& event);

/// The event's own, without its children, as a READ record or the parent's sum needs them.
Total own_total(World& world, Event& event);

}  // namespace anyperf::subsystem

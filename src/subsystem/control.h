// control.h: events are told to count, not to count, to forget, to count for some overflows more: by ioctl, prctl,
// exec. What holds for an event holds for its children.
#pragma once

#include <span>

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// These events, which are of one group, and all that is inherited from them.
void enable(World& world, std::span<Event* const> events);
/// This one without its children, as an exec does.
void enable_alone(World& world, Event& event);
void disable(World& world, std::span<Event* const> events);
/// The counts of the events and of living children; what ended children left stays (kernel quirk), as do times.
void reset(World& world, std::span<Event* const> events);

}  // namespace anyperf::subsystem

// control.h: enables, disables and resets events, for ioctl, prctl and exec. Each call but enable_alone() also acts on
// the children of the events.
#pragma once

#include <span>

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// Enables these events and their children. Also ends an error state (perf_event_open(2), `pinned`).
void enable(World& world, std::span<Event* const> events);
/// Enables the event without its children, as an exec does (enable_on_exec).
void enable_alone(World& world, Event& event);
/// Disables these events and their children. Also ends an error state, as the manual says (`pinned`); the kernel keeps
/// it.
void disable(World& world, std::span<Event* const> events);
/// Sets the counts of the events and their living children to 0. Times stay, and so do the totals of children that have
/// ended (the kernel keeps them, too).
void reset(World& world, std::span<Event* const> events);

}  // namespace anyperf::subsystem

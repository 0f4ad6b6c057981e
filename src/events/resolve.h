// resolve.h: one item becomes its events.
#pragma once

#include <vector>

#include "anyperf/event.h"
#include "events/fault.h"
#include "events/machine_data.h"
#include "events/tokens.h"

namespace anyperf::events {

/// Asks the sources of names in their order, then applies terms and the item's own modifiers, then names the events.
/// Never empty.
Parsed<std::vector<Event>> resolve(const Machine::Data& machine, const Item& item);

}  // namespace anyperf::events

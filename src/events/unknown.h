// unknown.h: what to say of a name that nobody knows.
#pragma once

#include "events/fault.h"
#include "events/machine_data.h"
#include "events/tokens.h"

namespace anyperf::events {

std::unexpected<Fault> unknown_event(const Machine::Data& machine, const Item& item);

/// Of a piece that stands where modifiers do.
std::unexpected<Fault> unknown_modifiers(std::string_view letters);

}  // namespace anyperf::events

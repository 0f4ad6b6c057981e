// unknown_name.h: errors for names that no source knows.
#pragma once

#include "events/machine/machine_data.h"
#include "events/syntax/parse_error.h"
#include "events/syntax/tokens.h"

namespace anyperf::events {

/// The error for an item that no source knows, with similar names as the fix.
std::unexpected<ParseError> unknown_event(const Machine::Data& machine, const Item& item);

/// The error for a piece in the place of modifiers that is not a list of modifiers.
std::unexpected<ParseError> unknown_modifiers(std::string_view letters);

}  // namespace anyperf::events

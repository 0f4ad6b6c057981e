// unknown_name.h: errors for names that no source knows.
#pragma once

#include <string>
#include <string_view>

#include "events/machine/machine_data.h"
#include "events/syntax/parse_error.h"
#include "events/syntax/tokens.h"

namespace anyperf::events {

/// The error for an item that no source knows, with similar names as the fix.
std::unexpected<ParseError> unknown_event(const Machine::Data& machine, const Item& item);

/// "did you mean 'NAME'?" with the event whose name is nearest; empty if none is near.
std::string near_event(const Machine::Data& machine, std::string_view name);

/// The error for a piece in the place of modifiers that is not a list of modifiers.
std::unexpected<ParseError> unknown_modifiers(std::string_view letters);

}  // namespace anyperf::events

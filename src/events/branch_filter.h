// branch_filter.h: "any,u" of perf record -j, written with '|' or ':' inside terms, where a comma ends the term.
#pragma once

#include <cstdint>

#include "events/fault.h"
#include "events/tokens.h"

namespace anyperf::events {

/// Bits for attr.branch_sample_type. Privileges alone mean any branch, as in perf.
Parsed<std::uint64_t> parse_branch_filter(const Term& term);

}  // namespace anyperf::events

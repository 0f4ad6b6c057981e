// branch_filter.h: the value of branch_type=, a branch filter as in `perf record -j any,u`. Words are joined by '|' or
// ':', because a comma ends the term unless the value is in quotes.
#pragma once

#include <cstdint>

#include "events/syntax/parse_error.h"
#include "events/syntax/tokens.h"

namespace anyperf::events {

/// The bits for attr.branch_sample_type. Privilege levels alone mean any branch, as in perf.
Parsed<std::uint64_t> parse_branch_filter(const Term& term);

}  // namespace anyperf::events

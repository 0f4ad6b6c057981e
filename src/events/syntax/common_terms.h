// common_terms.h: the terms that every event takes ("cycles/period=1000,name=x/"), as one table.
#pragma once

#include <span>
#include <string_view>

#include "anyperf/event.h"
#include "events/syntax/parse_error.h"
#include "events/syntax/tokens.h"

namespace anyperf::events {

struct CommonTerm {
    std::string_view name;
    std::string_view value;  ///< what its value is, for messages and docs; empty: the term is a switch
    std::string_view meaning;
    Parsed<> (*apply)(Event&, const Term&);
};

/// All of them except "@name".
std::span<const CommonTerm> common_terms();

/// The term of that name; nullptr if it is not one of them. "@name" is configuration for a driver.
const CommonTerm* find_common_term(const Term& term);

/// The number of a term that must have one, at most `most`.
Parsed<std::uint64_t> number_of(const Term& term, std::uint64_t most = ~0ull);

/// Applies the terms of an event that has no fields of its own: names of the kernel, tracepoints, breakpoints.
Parsed<> apply_common_terms(Event& event, std::span<const Term> terms);

}  // namespace anyperf::events

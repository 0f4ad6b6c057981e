// common_terms.h: terms that go with every event ("cycles/period=1000,name=x/"), as one table.
#pragma once

#include <span>
#include <string_view>

#include "anyperf/event.h"
#include "events/fault.h"
#include "events/tokens.h"

namespace anyperf::events {

struct CommonTerm {
    std::string_view name;
    std::string_view value;  ///< what its value is, for messages and docs; empty: it has none
    std::string_view meaning;
    Parsed<> (*apply)(Event&, const Term&);
};

std::span<const CommonTerm> common_terms();

/// nullptr where `term` is none of them. "@name" is one of them too.
const CommonTerm* find_common_term(const Term& term);

/// A term that must have a number; at most `most`.
Parsed<std::uint64_t> number_of(const Term& term, std::uint64_t most = ~0ull);

/// Terms of an event that has no fields of its own: the kernel's names, tracepoints, breakpoints.
Parsed<> apply_common_terms(Event& event, std::span<const Term> terms);

}  // namespace anyperf::events

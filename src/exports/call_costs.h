// call_costs.h: what calls cost in all, computed from what functions cost by themselves and from how often they called
// each other. That is what exact counts have (recording/exact_events.h): they do not say which call of a function was
// the expensive one.
//
// So all calls of a function share its cost equally, as in gprof: a caller that made a third of the calls gets a third
// of the cost. That is exact for a function with one caller, and for one whose calls all cost the same. Functions that
// call each other in a cycle are one function here: calls from outside share the cost of the cycle, and calls within it
// cost nothing, since the cost would be counted twice.
#pragma once

#include <cstdint>
#include <span>

namespace anyperf::exports {

struct CountedCalls {
    std::uint32_t caller = 0, called = 0;  ///< numbers of functions
    std::uint64_t count = 0;               ///< how often the one called the other
    std::uint64_t cost = 0;                ///< of these calls, with all that they called
};

/// Sets the cost of each of `calls`. `self` has the cost of each function without what it called. The costs of all
/// calls of a function from outside of its cycle add up to the function's, to the last unit.
void share_costs(std::span<const std::uint64_t> self, std::span<CountedCalls> calls);

}  // namespace anyperf::exports

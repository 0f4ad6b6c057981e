// counter_sum.h: a Source of kind `counters` over a thread's live counters: its value, and how long a thread may run
// before the value can have come to an end that matters.
//
// Freestanding, as event_page.h.
#pragma once

#include <cstdint>

#include "subsystem/shared/event_page.h"

namespace anyperf::subsystem {

inline constexpr std::uint64_t kNever = ~0ull;

/// Before the division by 2^shift. `counters` are indexed as Source::Term::counter says, instructions filled in.
inline std::uint64_t raw_counter_sum(const Source& source, const std::uint64_t* counters) {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < source.terms; ++i)
        sum += counters[source.term[i].counter] * static_cast<std::uint64_t>(std::int64_t{source.term[i].weight});
    return sum;
}

inline std::uint64_t counter_sum(const Source& source, const std::uint64_t* counters) {
    return raw_counter_sum(source, counters) >> source.shift;
}

/// The least number of instructions after which the value may be `target`: 0 where it is already, kNever where no
/// number is enough. An instruction counts once at most in a class, so none adds more than all the weights; but for
/// Source::call_terms, for which it is to be asked again after each system call. Exact for a source of instructions
/// alone; else a lower bound, to be asked again from where it ends.
inline std::uint64_t instructions_until(const Source& source, const std::uint64_t* counters, std::uint64_t target) {
    std::uint64_t most = 0;
    for (unsigned i = 0; i + source.call_terms < source.terms; ++i)
        if (source.term[i].weight > 0) most += static_cast<std::uint32_t>(source.term[i].weight);
    const std::uint64_t raw = raw_counter_sum(source, counters);
    if (static_cast<std::int64_t>((raw >> source.shift) - target) >= 0) return 0;
    if (most == 0 || target > kNever >> source.shift) return kNever;
    const std::uint64_t missing = (target << source.shift) - raw;
    return missing / most + (missing % most != 0);
}

}  // namespace anyperf::subsystem

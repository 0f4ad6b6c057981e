// counter_sum.h: the value of a Source of kind `counters`, computed from a thread's live counters, and a bound on how
// long the thread may run before that value reaches a target. Freestanding, as event_page.h.
#pragma once

#include <cstdint>

#include "subsystem/shared/event_page.h"

namespace anyperf::subsystem {

/// No number of instructions is enough.
inline constexpr std::uint64_t kNever = ~0ull;

/// A set of counters (ActiveEvents::counters) has this bit if an event needs the models of caches and TLBs. Only those
/// models need accesses to memory recorded; branch predictors do not.
inline constexpr std::uint32_t kAccessesBit = 30;
/// This bit, if an event needs the models of branch predictors.
inline constexpr std::uint32_t kPredictionsBit = 29;

/// Whether the models of caches and TLBs compute the source, or describe its samples.
constexpr bool models_accesses(const Source& source) {
    return source.kind == Source::Kind::counters && source.needs_accesses;
}

/// The weighted sum before it is divided by 2^shift. `counters` is indexed by Source::Term::counter.
inline std::uint64_t raw_counter_sum(const Source& source, const std::uint64_t* counters) {
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < source.terms; ++i)
        sum += counters[source.term[i].counter] * static_cast<std::uint64_t>(std::int64_t{source.term[i].weight});
    return sum;
}

/// The source's value.
inline std::uint64_t counter_sum(const Source& source, const std::uint64_t* counters) {
    return raw_counter_sum(source, counters) >> source.shift;
}

/// The fewest instructions after which the value may reach `target`: 0 if it has, kNever if it never will. Not for
/// sources that use the models (uses_models()): an instruction may add more to those.
///
/// Unless the source says so itself, an instruction adds at most 1 to each counter, so it adds at most the sum of the
/// positive weights. The bound is exact for a source of instructions alone; otherwise it is a lower bound, and the
/// caller asks again when so many have retired. Source::syscall_terms grow by system calls only and are left out: the
/// caller asks again after each system call.
inline std::uint64_t instructions_until(const Source& source, const std::uint64_t* counters, std::uint64_t target) {
    std::uint64_t weights = 0;
    for (unsigned i = 0; i + source.syscall_terms < source.terms; ++i)
        if (source.term[i].weight > 0) weights += static_cast<std::uint32_t>(source.term[i].weight);
    const std::uint64_t most = source.most_per_instruction != 0 ? source.most_per_instruction : weights;
    const std::uint64_t raw = raw_counter_sum(source, counters);
    if (static_cast<std::int64_t>((raw >> source.shift) - target) >= 0) return 0;
    if (most == 0 || target > kNever >> source.shift) return kNever;
    const std::uint64_t missing = (target << source.shift) - raw;
    return missing / most + (missing % most != 0);
}

}  // namespace anyperf::subsystem

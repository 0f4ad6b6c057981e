// live_value.h: the value of an event's source, from a thread's live counters: the same words for the thread itself and
// for who looks from outside, who then is right to the block.
#pragma once

#include "engine/run_state.h"
#include "subsystem/shared/event_page.h"

namespace anyperf::resident {

/// Row `number` of the table of classes (engine/x86_64/classes.h); instructions are row 0 and live in the budget.
inline std::uint64_t live_counter(const engine::LiveCounters& live, std::uint32_t number) {
    if (number == 0) return live.retired();
    return number < engine::kCounters ? live.count(number) : 0;
}

/// Of a source of kind `counters`: as counter_sum, reading only what it names.
inline std::uint64_t live_value(const subsystem::Source& source, const engine::LiveCounters& live) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < source.terms && i < subsystem::Source::kTerms; ++i)
        sum += static_cast<std::uint64_t>(std::int64_t{source.term[i].weight}) *
               live_counter(live, source.term[i].counter);
    return sum >> (source.shift & 63);
}

}  // namespace anyperf::resident

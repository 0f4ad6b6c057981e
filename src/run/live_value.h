// live_value.h: the value of an event's source, computed from a thread's live counters. The thread itself and the
// broker use the same functions; from outside the value is exact to the block, as LiveCounters is.
#pragma once

#include "run/live_counters.h"
#include "subsystem/shared/event_page.h"

namespace anyperf::run {

/// The count of row `number` of the table of classes (engine/x86_64/decode/classes.h), or from Source::kModelled on of
/// a quantity of the models; 0 for a number beyond both. Row 0, instructions, has no counter of its own: it is the
/// budget that was granted less what is left of it.
inline std::uint64_t live_counter(const LiveCounters& live, std::uint32_t number) {
    if (number == 0) return live.retired();
    if (number >= subsystem::Source::kModelled) {
        const std::uint32_t quantity = number - subsystem::Source::kModelled;
        return quantity < models::kQuantities ? live.modelled_count(quantity) : 0;
    }
    return number < kCounters ? live.count(number) : 0;
}

/// The value of a source of kind `counters`. As subsystem::counter_sum, but it reads only the counters that the source
/// names.
inline std::uint64_t live_value(const subsystem::Source& source, const LiveCounters& live) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < source.terms && i < subsystem::Source::kTerms; ++i)
        sum += static_cast<std::uint64_t>(std::int64_t{source.term[i].weight}) *
               live_counter(live, source.term[i].counter);
    return sum >> (source.shift & 63);
}

}  // namespace anyperf::run

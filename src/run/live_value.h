// live_value.h: the value of an event's source, computed from the counts of a thread. The thread itself and the broker
// use the same functions. The broker may see a block that runs at this moment as retired.
#pragma once

#include "run/tuple_counts.h"
#include "subsystem/shared/event_page.h"

namespace anyperf::run {

/// The count with this number. Numbers below Source::kModelled are rows of the table of classes
/// (engine/x86_64/decode/classes.h). Numbers from there on are quantities of the models, and those from
/// Source::kLoadsOf on are loads by their latency. Other numbers count 0.
template <class Counts>
std::uint64_t live_counter(Counts& counts, std::uint32_t number) {
    if (number >= subsystem::Source::kModelled) {
        if (number >= subsystem::Source::kLoadsOf) return counts.loads_of(number - subsystem::Source::kLoadsOf);
        const std::uint32_t quantity = number - subsystem::Source::kModelled;
        return quantity < models::kQuantities ? counts.modelled_count(quantity) : 0;
    }
    return number < kCounters ? counts.count(number) : 0;
}

/// The value of a source of kind `counters`: the result of subsystem::counter_sum, but this reads only the counters
/// that the source names.
template <class Counts>
std::uint64_t live_value(const subsystem::Source& source, Counts& counts) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < source.terms && i < subsystem::Source::kTerms; ++i)
        sum += static_cast<std::uint64_t>(std::int64_t{source.term[i].weight}) *
               live_counter(counts, source.term[i].counter);
    return sum >> (source.shift & 63);
}

}  // namespace anyperf::run

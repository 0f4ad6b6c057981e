#include "subsystem/events/totals.h"

namespace anyperf::subsystem {
namespace {

/// The times of an opened cpu-wide event are the CPU's. The time for which a part of it lacked a counter is subtracted
/// from its time running.
void add_child(Total& sum, const Total& child, const Event& event) {
    sum.member.value += event.wiring.counts_cpu ? 0 : child.member.value;
    sum.member.lost += child.member.lost;
    if (event.cpu_wide) {
        // The unsigned number may wrap around between two children; the result is right modulo 2^64.
        sum.running -= child.enabled - child.running;
    } else {
        sum.enabled += child.enabled;
        sum.running += child.running;
    }
}

}  // namespace

Total own_total(World& world, Event& event) {
    LockedPage page(world, event);
    const std::uint64_t clock = clock_now(world, event);
    return {{count_at(*page, value_now(world, event)), page->id, page->lost},
            enabled_at(*page, clock),
            running_at(*page, clock)};
}

// Own counts, those of ended children, and those of living ones, as perf_event_read_value() adds them up.
Total total(World& world, Event& event) {
    Total sum = own_total(world, event);
    const InheritedTotals& left = event.inherited_totals;
    add_child(sum, {{left.count, 0, left.lost}, left.enabled, left.running}, event);
    for (Event* child : event.children) add_child(sum, own_total(world, *child), event);
    return sum;
}

}  // namespace anyperf::subsystem

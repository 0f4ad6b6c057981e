#include "subsystem/read.h"

#include <bit>

#include "abi/sample_bits.h"
#include "subsystem/event_state.h"

namespace anyperf::subsystem {
namespace {

constexpr auto kGroup = abi::read_format("PERF_FORMAT_GROUP");

/// A cpu-wide event has the CPU's time; what its tasks lack of running is time that it had no counter there.
void add_child(Total& sum, const Total& child, const Event& event) {
    sum.member.value += event.wiring.counts_cpu ? 0 : child.member.value;
    sum.member.lost += child.member.lost;
    if (event.cpu_wide) {
        sum.running -= child.enabled - child.running;
    } else {
        sum.enabled += child.enabled;
        sum.running += child.running;
    }
}

}  // namespace

Total own_total(World& world, Event& event) {
    Locked page(world, event);
    const std::uint64_t clock = clock_now(world, event);
    return {{count_at(*page, value_now(world, event)), page->id, page->lost},
            enabled_at(*page, clock),
            running_at(*page, clock)};
}

Total total(World& world, Event& event) {
    Total sum = own_total(world, event);
    const Bequest& left = event.bequest;
    add_child(sum, {{left.count, 0, left.lost}, left.enabled, left.running}, event);
    for (Event* child : event.children) add_child(sum, own_total(world, *child), event);
    return sum;
}

std::size_t answer_bytes(const Event& event) {
    return read_bytes(event.attr.read_format, 1 + event.leader->siblings.size());
}

Answer<std::vector<std::uint64_t>> read_event(World& world, Event& event, std::size_t buffer_bytes) {
    notice_switched(world, event);
    if (event.own() == EventState::error) return std::vector<std::uint64_t>{};
    const std::size_t bytes = answer_bytes(event);
    if (buffer_bytes < bytes) return refuse(ENOSPC, "the buffer is smaller than what read_format makes");

    std::vector<MemberValue> values;
    const bool group = (event.attr.read_format & kGroup) != 0;
    const Total first = total(world, group ? *event.leader : event);
    values.push_back(first.member);
    if (group)
        for (Event* sibling : event.leader->siblings) values.push_back(total(world, *sibling).member);

    std::vector<std::uint64_t> answer(std::bit_ceil(bytes) / sizeof(std::uint64_t));
    Sink sink(reinterpret_cast<std::byte*>(answer.data()), std::bit_ceil(bytes), 0);
    put_read(sink, event.attr.read_format, {first.enabled, first.running, values});
    answer.resize(bytes / sizeof(std::uint64_t));
    return answer;
}

}  // namespace anyperf::subsystem

#include "subsystem/read.h"

#include <bit>

#include "abi/sample_bits.h"
#include "subsystem/events/event_state.h"
#include "subsystem/events/totals.h"
#include "subsystem/shared/read_layout.h"

namespace anyperf::subsystem {
namespace {

constexpr auto kGroup = abi::read_format("PERF_FORMAT_GROUP");

}  // namespace

std::size_t answer_bytes(const Event& event) {
    return read_bytes(event.attr.read_format, 1 + event.leader->siblings.size());
}

// An event in error state (a pinned one without counters) reads as end of file: an empty answer, as by __perf_read().
// All values are of one moment: Host::value() does not change until the call ends.
Answer<std::vector<std::uint64_t>> read_event(World& world, Event& event, std::size_t buffer_bytes) {
    sync_state_from_page(world, event);
    if (event.requested_state() == EventState::error) return std::vector<std::uint64_t>{};
    const std::size_t bytes = answer_bytes(event);
    if (buffer_bytes < bytes) return refuse(ENOSPC, "the buffer is smaller than the answer that read_format asks for");

    std::vector<MemberValue> values;
    const bool group = (event.attr.read_format & kGroup) != 0;
    const Total first = total(world, group ? *event.leader : event);
    values.push_back(first.member);
    if (group)
        for (Event* sibling : event.leader->siblings) values.push_back(total(world, *sibling).member);

    // A Sink writes into a ring, whose size is a power of two. The answer begins at the ring's start, so it never wraps
    // around.
    std::vector<std::uint64_t> answer(std::bit_ceil(bytes) / sizeof(std::uint64_t));
    Sink sink(reinterpret_cast<std::byte*>(answer.data()), std::bit_ceil(bytes), 0);
    put_read(sink, event.attr.read_format, {first.enabled, first.running, values});
    answer.resize(bytes / sizeof(std::uint64_t));
    return answer;
}

}  // namespace anyperf::subsystem

// read_layout.h: the layout of what read(2) on an event returns, which is also that of a sample's READ field
// (perf_event_open(2), "Reading results"; __perf_read_group_add() and perf_read_one() of Linux 6.18). Freestanding, as
// event_page.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "subsystem/shared/sink.h"

namespace anyperf::subsystem {

/// The numbers of one event in an answer.
struct MemberValue {
    std::uint64_t value = 0;
    std::uint64_t id = 0;
    std::uint64_t lost = 0;
};

/// The input for any layout. Without PERF_FORMAT_GROUP only the first member is used; with it, the members are the
/// leader and its siblings in order of creation. The times are the leader's with PERF_FORMAT_GROUP, otherwise the
/// event's. `members` is borrowed.
struct ReadValues {
    std::uint64_t enabled = 0;
    std::uint64_t running = 0;
    std::span<const MemberValue> members;
};

/// The size in bytes of an answer with so many members (ignored without PERF_FORMAT_GROUP).
std::size_t read_bytes(std::uint64_t read_format, std::size_t members);

/// Writes the answer, read_bytes() long. `values` must have at least one member.
void put_read(Sink& sink, std::uint64_t read_format, const ReadValues& values);

}  // namespace anyperf::subsystem

// read_layout.h: what read(2) of an event answers, and a sample's READ field with it (perf_event_open(2), "Reading
// results"; kernel_read_format: __perf_read_group_add() and perf_read_one() of Linux 6.18).
//
// Freestanding, as event_page.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "subsystem/shared/sink.h"

namespace anyperf::subsystem {

/// One event's share of an answer.
struct MemberValue {
    std::uint64_t value = 0;
    std::uint64_t id = 0;
    std::uint64_t lost = 0;
};

/// All that an answer may have. Without FORMAT_GROUP the first member is the one; with it, they stand as in the
/// group: leader, then siblings in order of creation. The times are those of the event that is read, with FORMAT_GROUP
/// the leader's. Borrowed: `members` outlives the call.
struct ReadValues {
    std::uint64_t enabled = 0;
    std::uint64_t running = 0;
    std::span<const MemberValue> members;
};

/// What an answer takes, in bytes. `members` doesn't matter without FORMAT_GROUP.
std::size_t read_bytes(std::uint64_t read_format, std::size_t members);

/// The answer itself: read_bytes() of them. Values must have a member at least.
void put_read(Sink& sink, std::uint64_t read_format, const ReadValues& values);

}  // namespace anyperf::subsystem

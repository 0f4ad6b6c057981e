// sample_id.h: who, when and where of a record, and the trailer that sample_id_all puts behind every record but SAMPLE
// (struct sample_id of perf_event_open(2)).
//
// Freestanding, as event_page.h.
#pragma once

#include <cstdint>

#include "subsystem/shared/event_page.h"
#include "subsystem/shared/sink.h"

namespace anyperf::subsystem {

/// Who was running, when and on which CPU, when a record came about.
struct Moment {
    std::int32_t pid = 0;
    std::int32_t tid = 0;
    std::uint64_t time = 0;  ///< ns of the event's clock: clockid's with use_clockid
    std::uint32_t cpu = 0;
};

/// The header that every record starts with (struct perf_event_header).
struct RecordHeader {
    std::uint32_t type = 0;
    std::uint16_t misc = 0;
    std::uint16_t size = 0;  ///< with the header itself
};
static_assert(sizeof(RecordHeader) == 8);

/// A record's size field has 16 bits, and records are multiples of 8.
inline constexpr std::size_t kLongestRecord = 0xfff8;

/// What the trailer takes, in bytes; 0 without sample_id_all.
std::size_t trailer_bytes(const EventShape& shape);

void put_trailer(Sink& sink, const EventShape& shape, const Moment& moment, std::uint64_t id, std::uint64_t stream_id);

}  // namespace anyperf::subsystem

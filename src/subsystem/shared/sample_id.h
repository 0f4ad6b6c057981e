// sample_id.h: the task, time and CPU of a record, and the trailer that sample_id_all appends to every record except
// PERF_RECORD_SAMPLE (struct sample_id in perf_event_open(2)).
//
// Freestanding, like event_page.h.
#pragma once

#include <cstdint>

#include "subsystem/shared/event_page.h"
#include "subsystem/shared/sink.h"

namespace anyperf::subsystem {

/// The task, the time and the CPU that a record reports.
struct RecordOrigin {
    std::int32_t pid = 0;
    std::int32_t tid = 0;
    std::uint64_t time = 0;  ///< ns on the event's clock (attr.clockid, if attr.use_clockid is set)
    std::uint32_t cpu = 0;
};

/// struct perf_event_header, with which every record starts.
struct RecordHeader {
    std::uint32_t type = 0;
    std::uint16_t misc = 0;
    std::uint16_t size = 0;  ///< of the record, header included
};
static_assert(sizeof(RecordHeader) == 8);

/// The size field has 16 bits, and the size of a record is a multiple of 8.
inline constexpr std::size_t kLongestRecord = 0xfff8;

/// Bytes of the trailer; 0 without sample_id_all.
std::size_t trailer_bytes(const EventShape& shape);

/// Writes the trailer, trailer_bytes() long. `id` and `stream_id` are those of the event that writes.
void put_trailer(Sink& sink, const EventShape& shape, const RecordOrigin& moment, std::uint64_t id,
                 std::uint64_t stream_id);

}  // namespace anyperf::subsystem

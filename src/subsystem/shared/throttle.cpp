// throttle.cpp: THROTTLE and UNTHROTTLE have the same body: time, id and stream id, whatever sample_type is.
#include "subsystem/shared/throttle.h"

#include "abi/records.h"

namespace anyperf::subsystem {
namespace {

WriteResult write(Ring ring, EventPage& event, const RecordOrigin& moment, std::uint32_t type) {
    const std::uint64_t body[] = {moment.time, event.id, event.stream_id};
    return write_record(ring, event, moment, {.type = type}, std::as_bytes(std::span{body}));
}

}  // namespace

WriteResult write_throttle(Ring ring, EventPage& event, const RecordOrigin& moment) {
    return write(ring, event, moment, abi::value_of(abi::kRecordTypes, "PERF_RECORD_THROTTLE"));
}

WriteResult write_unthrottle(Ring ring, EventPage& event, const RecordOrigin& moment) {
    return write(ring, event, moment, abi::value_of(abi::kRecordTypes, "PERF_RECORD_UNTHROTTLE"));
}

}  // namespace anyperf::subsystem

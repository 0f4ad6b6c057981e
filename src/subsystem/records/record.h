// record.h: builds a side-band record: header and body (perf_event_open(2), "MMAP layout"). write_record() adds the
// trailer of sample_id_all, which differs from event to event.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "abi/records.h"
#include "subsystem/shared/ring.h"

namespace anyperf::subsystem {

/// The functions append to the body and return the record. A word is 64 bits, a half 32, a quarter 16.
class Record {
  public:
    explicit Record(std::uint32_t type, std::uint16_t misc = 0) : header_{.type = type, .misc = misc} {}

    Record& word(std::uint64_t value) { return bytes(&value, sizeof value); }
    Record& half(std::uint32_t value) { return bytes(&value, sizeof value); }
    Record& half(std::int32_t value) { return bytes(&value, sizeof value); }
    Record& quarter(std::uint16_t value) { return bytes(&value, sizeof value); }
    Record& bytes(std::span<const std::byte> some) { return bytes(some.data(), some.size()); }
    /// A string: terminated by a zero byte, padded with zeros to a multiple of 8.
    Record& name(std::string_view text);
    /// Pads with zeros to a multiple of 8.
    Record& padding();

    /// `size` is 0 here; write_record() fills it in.
    RecordHeader header() const { return header_; }
    std::span<const std::byte> body() const { return body_; }

  private:
    Record& bytes(const void* from, std::size_t count);

    RecordHeader header_;
    std::vector<std::byte> body_;
};

/// Writes the record with the event's trailer into the event's ring. The caller holds the locks of both.
inline WriteResult write_record(Ring ring, EventPage& event, const RecordOrigin& moment, const Record& record) {
    return write_record(ring, event, moment, record.header(), record.body());
}

/// The number of a record type, e.g. record_type("PERF_RECORD_COMM"). An unknown name does not compile.
consteval std::uint32_t record_type(std::string_view name) {
    return static_cast<std::uint32_t>(abi::value_of(abi::kRecordTypes, name));
}

}  // namespace anyperf::subsystem

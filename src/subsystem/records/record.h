// record.h: a side-band record on its way to the rings of those who want it: header and body, without the trailer of
// sample_id_all, which differs from event to event (perf_event_open(2), "MMAP layout").
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "abi/records.h"
#include "subsystem/shared/ring.h"

namespace anyperf::subsystem {

class Record {
  public:
    explicit Record(std::uint32_t type, std::uint16_t misc = 0) : header_{.type = type, .misc = misc} {}

    Record& word(std::uint64_t value) { return bytes(&value, sizeof value); }
    Record& half(std::uint32_t value) { return bytes(&value, sizeof value); }
    Record& half(std::int32_t value) { return bytes(&value, sizeof value); }
    Record& quarter(std::uint16_t value) { return bytes(&value, sizeof value); }
    Record& bytes(std::span<const std::byte> some) { return bytes(some.data(), some.size()); }
    /// A name: a zero behind it, then zeros up to a multiple of 8.
    Record& name(std::string_view text);
    /// Zeros up to a multiple of 8.
    Record& padding();

    /// The type and misc; `size` is filled in by whoever writes it.
    RecordHeader header() const { return header_; }
    std::span<const std::byte> body() const { return body_; }

  private:
    Record& bytes(const void* from, std::size_t count);

    RecordHeader header_;
    std::vector<std::byte> body_;
};

/// With the event's trailer, into the ring that the event writes to. The caller holds the locks of both.
inline Written write_record(Ring ring, EventPage& event, const Moment& moment, const Record& record) {
    return write_record(ring, event, moment, record.header(), record.body());
}

/// A record's number: record_type("PERF_RECORD_COMM"). A name that isn't in the table doesn't compile.
consteval std::uint32_t record_type(std::string_view name) {
    return static_cast<std::uint32_t>(abi::value_of(abi::kRecordTypes, name));
}

}  // namespace anyperf::subsystem

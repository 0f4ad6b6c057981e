// test_ring.h: a ring in ordinary memory, with an event that writes to it and a reader.
#pragma once

#include <cstring>
#include <vector>

#include "abi/attr_flags.h"
#include "abi/sample_bits.h"
#include "subsystem/shared/ring.h"

namespace anyperf::subsystem::testing {

/// A record as a reader copies it from the ring.
struct Record {
    RecordHeader header;
    std::vector<std::uint64_t> words;  ///< after the header

    bool operator==(const Record& other) const {
        return header.type == other.header.type && header.misc == other.header.misc && words == other.words;
    }
};

class TestRing {
  public:
    explicit TestRing(RingShape shape = {.pages = 1})
        : memory_(kRingPageBytes / 8 * (1 + shape.pages)),
          ring_{&page_, reinterpret_cast<std::byte*>(memory_.data()), shape.pages * kRingPageBytes} {
        start_ring(ring_, shape);
        event.id = 7;
        event.stream_id = 8;
    }

    Ring ring() { return ring_; }
    RingPage& page() { return page_; }
    abi::MmapPage& header() { return ring_.header(); }

    /// Writes a record of `bytes` bytes with its header; its words are `first`, `first` + 1 and so on.
    WriteResult write(std::size_t bytes, std::uint64_t first = 0) {
        std::vector<std::uint64_t> body((bytes - sizeof(RecordHeader)) / 8);
        for (std::uint64_t& word : body) word = first++;
        return write_record(ring_, event, moment, {.type = 3}, std::as_bytes(std::span{body}));
    }

    /// The record at a position, which may wrap around the end of the ring.
    Record at(std::uint64_t position) const {
        Record record;
        copy(position, &record.header, sizeof record.header);
        record.words.resize((record.header.size - sizeof record.header) / 8);
        copy(position + sizeof record.header, record.words.data(), record.words.size() * 8);
        return record;
    }

    /// The records from data_tail to data_head; moves data_tail, as a program does that reads the ring.
    std::vector<Record> drain() {
        std::vector<Record> records;
        std::uint64_t tail = header().data_tail;
        while (tail != header().data_head) {
            records.push_back(at(tail));
            tail += records.back().header.size;
        }
        header().data_tail = tail;
        return records;
    }

    EventPage event;
    RecordOrigin moment{.pid = 10, .tid = 11, .time = 12, .cpu = 1};

  private:
    void copy(std::uint64_t position, void* to, std::size_t bytes) const {
        for (std::size_t i = 0; i < bytes; ++i)
            static_cast<std::byte*>(to)[i] = ring_.data()[(position + i) % ring_.bytes()];
    }

    RingPage page_;
    std::vector<std::uint64_t> memory_;
    Ring ring_;
};

}  // namespace anyperf::subsystem::testing

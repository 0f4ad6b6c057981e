// ring.h: a mapped ring buffer, read by the protocol of the manual ("MMAP layout").
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "suite/event.h"

namespace conformance {

/// One record as it stands in the ring, header apart.
struct Record {
    std::uint32_t type = 0;
    std::uint16_t misc = 0;
    std::uint16_t size = 0;
    std::vector<char> body;

    /// The word of the body at a byte offset; ends the case where the record is shorter.
    std::uint64_t u64(std::size_t offset) const;
    std::uint32_t u32(std::size_t offset) const;
    /// From an offset to the first zero byte.
    std::string text(std::size_t offset) const;
};

inline constexpr std::size_t kPageBytes = 4096;

/// mmap(2) of an event: nothing mapped and the result -errno where it fails.
long mapping_result(int fd, std::size_t bytes, int protection = PROT_READ | PROT_WRITE, int flags = MAP_SHARED,
                    off_t offset = 0);

class Ring {
  public:
    /// Maps 1 + `pages` pages; ends the case where that fails.
    explicit Ring(const Event& event, std::size_t pages = 8, int protection = PROT_READ | PROT_WRITE);
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;
    ~Ring() { unmap(); }

    void unmap();
    perf_event_mmap_page& page() const { return *static_cast<perf_event_mmap_page*>(memory_); }
    char* memory() const { return static_cast<char*>(memory_); }
    std::size_t mapped_bytes() const { return bytes_; }
    const char* data() const { return static_cast<const char*>(memory_) + kPageBytes; }
    std::uint64_t data_bytes() const { return bytes_ - kPageBytes; }
    std::uint64_t head() const;

    /// All records between tail and head, and moves the tail there.
    std::vector<Record> drain();
    /// Those of one type.
    std::vector<Record> drain(std::uint32_t type);
    /// Records from a position on, without moving the tail.
    std::vector<Record> between(std::uint64_t from, std::uint64_t to) const;

  private:
    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
};

std::vector<Record> only(const std::vector<Record>& records, std::uint32_t type);

/// The one record of a type; ends the case where there are none or more.
Record the_only(const std::vector<Record>& records, std::uint32_t type);

/// poll(2) without waiting: revents.
int poll_now(const Event& event);

/// poll(2) until something is to be said, at most so long.
int poll_for(const Event& event, int milliseconds);

}  // namespace conformance

// ring.h: a mapped ring buffer, read as perf_event_open(2), "MMAP layout", describes.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "suite/event.h"

namespace conformance {

/// One record of a ring: the fields of its header, and its body.
struct Record {
    std::uint32_t type = 0;
    std::uint16_t misc = 0;
    std::uint16_t size = 0;
    std::vector<char> body;

    /// The word at a byte offset of the body; ends the case if the body is too short.
    std::uint64_t u64(std::size_t offset) const;
    std::uint32_t u32(std::size_t offset) const;
    /// The text from a byte offset of the body up to the first zero byte.
    std::string text(std::size_t offset) const;
};

inline constexpr std::size_t kPageBytes = 4096;

/// Maps an event with mmap(2) and unmaps it again; returns 0, or -errno.
long mapping_result(int fd, std::size_t bytes, int protection = PROT_READ | PROT_WRITE, int flags = MAP_SHARED,
                    off_t offset = 0);

/// A mapping of an event: the user page and the data pages.
class Ring {
  public:
    /// Maps 1 + `pages` pages; ends the case if that fails.
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

    /// Returns all records between tail and head, and moves the tail to the head.
    std::vector<Record> drain();
    /// The same, but returns only records of one type.
    std::vector<Record> drain(std::uint32_t type);
    /// Returns the records between two positions, without moving the tail.
    std::vector<Record> between(std::uint64_t from, std::uint64_t to) const;

  private:
    void* memory_ = nullptr;
    std::size_t bytes_ = 0;
};

/// The records of one type.
std::vector<Record> only(const std::vector<Record>& records, std::uint32_t type);

/// The only record of a type; ends the case if there is none or more than one.
Record the_only(const std::vector<Record>& records, std::uint32_t type);

/// poll(2) without waiting; returns revents.
int poll_now(const Event& event);

/// poll(2) with a timeout; returns revents.
int poll_for(const Event& event, int milliseconds);

}  // namespace conformance

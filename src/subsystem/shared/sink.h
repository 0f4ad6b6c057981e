// sink.h: the target of a record's bytes: a ring, with wrap-around, or nothing, to measure the size. So one description
// of a record's fields gives both its size and its bytes, and they agree.
//
// Freestanding, as event_page.h.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::subsystem {

class Sink {
  public:
    /// Only counts bytes.
    Sink() = default;

    /// Writes at `position` modulo `ring_bytes`, a power of two. The caller has made sure that there is room.
    Sink(std::byte* data, std::uint64_t ring_bytes, std::uint64_t position)
        : data_(data), mask_(ring_bytes - 1), position_(position) {}

    void put(const void* bytes, std::size_t count);
    void word(std::uint64_t value) { number(value); }
    void half(std::uint32_t value) { number(value); }
    void zeros(std::size_t count);

    /// Passes the next `count` bytes in one or two pieces to fill(void* piece, std::size_t bytes, std::size_t done).
    template <typename Fill>
    void pieces(std::size_t count, Fill fill) {
        for (std::size_t done = 0; data_ != nullptr && done < count;) {
            const std::uint64_t at = (position_ + size_ + done) & mask_;
            const std::size_t until_end = mask_ + 1 - at;
            const std::size_t piece = count - done < until_end ? count - done : until_end;
            fill(static_cast<void*>(data_ + at), piece, done);
            done += piece;
        }
        size_ += count;
    }

    /// Bytes put so far.
    std::size_t size() const { return size_; }

  private:
    /// The fast path: most of a record is words, and few of them wrap around the ring's end.
    template <class Number>
    void number(Number value) {
        const std::uint64_t at = (position_ + size_) & mask_;
        if (data_ == nullptr || mask_ + 1 - at < sizeof value) return put(&value, sizeof value);
        __builtin_memcpy(data_ + at, &value, sizeof value);
        size_ += sizeof value;
    }

    std::byte* data_ = nullptr;
    std::uint64_t mask_ = 0;
    std::uint64_t position_ = 0;
    std::size_t size_ = 0;
};

}  // namespace anyperf::subsystem

// raw_record.h: the raw data of a sample (PERF_SAMPLE_RAW) while it is written: the record of a tracepoint, in the
// layout that its format file describes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anyperf::agent {

/// A record that grows at its end. A field that does not fit is left out. The memory is not cleared: an occurrence
/// makes a RawRecord for each event, and most events need no record.
class RawRecord {
  public:
    /// Appends a value.
    template <class T>
    void put(T value) {
        put(&value, sizeof value);
    }
    void put(const void* from, std::size_t bytes) {
        if (size_ + bytes > sizeof bytes_) return;
        __builtin_memcpy(bytes_ + size_, from, bytes);
        size_ += bytes;
    }
    /// A __data_loc field: says that a text of `bytes` bytes is at `offset` in the record.
    static std::uint32_t data_loc(std::size_t offset, std::size_t bytes) {
        return static_cast<std::uint32_t>(offset | bytes << 16);
    }
    void put_data_loc(std::size_t offset, std::size_t bytes) { put(data_loc(offset, bytes)); }
    /// Overwrites the four bytes at `offset`, if they have been written.
    void patch(std::size_t offset, std::uint32_t value) {
        if (offset + sizeof value <= size_) __builtin_memcpy(bytes_ + offset, &value, sizeof value);
    }
    std::size_t size() const { return size_; }
    std::span<const std::byte> bytes() const { return {bytes_, size_}; }

  private:
    std::byte bytes_[2048];
    std::size_t size_ = 0;
};

}  // namespace anyperf::agent

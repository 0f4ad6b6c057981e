// raw_record.h: the raw data of a sample while it is written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anyperf::resident {

/// A record that grows; what finds no room is left out. Nothing is cleared: most events need none of it.
class RawRecord {
  public:
    template <class T>
    void put(T value) {
        put(&value, sizeof value);
    }
    void put(const void* from, std::size_t bytes) {
        if (size_ + bytes > sizeof bytes_) return;
        __builtin_memcpy(bytes_ + size_, from, bytes);
        size_ += bytes;
    }
    /// Where a text of so many bytes, which begins at `offset`, is to be found: __data_loc.
    static std::uint32_t place(std::size_t offset, std::size_t bytes) {
        return static_cast<std::uint32_t>(offset | bytes << 16);
    }
    void put_place(std::size_t offset, std::size_t bytes) { put(place(offset, bytes)); }
    /// Writes over what stands at `offset`.
    void patch(std::size_t offset, std::uint32_t value) {
        if (offset + sizeof value <= size_) __builtin_memcpy(bytes_ + offset, &value, sizeof value);
    }
    std::size_t size() const { return size_; }
    std::span<const std::byte> bytes() const { return {bytes_, size_}; }

  private:
    std::byte bytes_[2048];
    std::size_t size_ = 0;
};

}  // namespace anyperf::resident

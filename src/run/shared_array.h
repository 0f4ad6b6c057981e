// shared_array.h: an array in memory that programs of a run share. An index into it comes from a message or from that
// same memory, so any program may have written it. The array therefore checks each index itself.
#pragma once

#include <cstdint>

namespace anyperf::run {

/// An array of `count` elements. In arrays of events, rings, filters and probes, index 0 means "none", and element 0 is
/// never used.
template <class T>
class SharedArray {
  public:
    SharedArray() = default;
    SharedArray(T* first, std::uint32_t count) : first_(first), count_(count) {}

    /// The element with this index; element 0 for an index beyond the array, so that a forged index stays in the array.
    T& operator[](std::uint32_t index) const { return first_[index < count_ ? index : 0]; }
    bool contains(std::uint32_t index) const { return index < count_; }
    std::uint32_t size() const { return count_; }
    explicit operator bool() const { return first_ != nullptr; }
    T* data() const { return first_; }

  private:
    T* first_ = nullptr;
    std::uint32_t count_ = 0;
};

}  // namespace anyperf::run

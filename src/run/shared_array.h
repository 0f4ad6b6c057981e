// shared_array.h: an array in memory that programs of a run share. An index into it comes from a message or from that
// same memory, so any program may have written it. This is the one place where such an index is checked.
#pragma once

#include <cstdint>

namespace anyperf::run {

/// An array of `count` elements. Element 0 means "none" wherever an index can be absent, and no event, ring,
/// filter or probe is ever there.
template <class T>
class SharedArray {
  public:
    SharedArray() = default;
    SharedArray(T* first, std::uint32_t count) : first_(first), count_(count) {}

    /// The element with this index; element 0 for an index beyond the array. So a forged index leads to a page that
    /// nothing uses, never out of the array.
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

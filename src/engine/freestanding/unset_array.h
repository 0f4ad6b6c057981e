// unset_array.h: an array whose elements have no value until they are written.
//
// The constructor of a std::array of structures with default member values writes all of them, also if only a few are
// ever used: a translation has room for 64 instructions and has five on average. Such writes took 7 % of the CPU time
// of a compiler in a run.
#pragma once

#include <cstddef>
#include <type_traits>

namespace anyperf::engine {

/// An element must be written before it is read.
template <class T, std::size_t kSize>
class UnsetArray {
  public:
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

    UnsetArray() {}  // NOLINT(modernize-use-equals-default): a defaulted one would need one of the union

    T& operator[](std::size_t index) { return items_[index]; }
    const T& operator[](std::size_t index) const { return items_[index]; }
    T* data() { return items_; }
    const T* data() const { return items_; }

  private:
    union {
        T items_[kSize];
    };
};

}  // namespace anyperf::engine

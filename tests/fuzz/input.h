// input.h: what the fuzzer gives a target that needs numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace anyperf::fuzz {

/// The fuzzer's input as numbers; zeros after its end.
class Input {
  public:
    Input(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
    bool more() const { return left_ > 0; }
    template <class T>
    T take() {
        T value{};
        const std::size_t got = left_ < sizeof value ? left_ : sizeof value;
        std::memcpy(&value, data_, got);
        data_ += got;
        left_ -= got;
        return value;
    }
    std::size_t below(std::size_t limit) { return take<std::uint32_t>() % limit; }

  private:
    const std::uint8_t* data_;
    std::size_t left_;
};

}  // namespace anyperf::fuzz

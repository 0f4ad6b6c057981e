// counter.h: a saturating counter of n bits, the element of all direction predictors.
#pragma once

#include <cstdint>

namespace anyperf::models {

/// Counts up when a branch is taken and down when it is not, between its limits. The upper half predicts "taken".
template <unsigned kBits>
class DirectionCounter {
  public:
    constexpr bool taken() const { return value_ >= 0; }
    /// Whether one more outcome would change the prediction.
    constexpr bool weak() const { return value_ == 0 || value_ == -1; }
    constexpr void train(bool was_taken) {
        if (was_taken && value_ < kMost) ++value_;
        if (!was_taken && value_ > kLeast) --value_;
    }
    constexpr void start(bool was_taken) { value_ = was_taken ? 0 : -1; }

  private:
    static constexpr int kMost = (1 << (kBits - 1)) - 1;
    static constexpr int kLeast = -(1 << (kBits - 1));
    std::int8_t value_ = 0;
};

}  // namespace anyperf::models

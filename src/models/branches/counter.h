// counter.h: a saturating counter of n bits, of which all direction predictors consist.
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
        constexpr int most = (1 << (kBits - 1)) - 1;
        constexpr int least = -(1 << (kBits - 1));
        if (was_taken && value_ < most) ++value_;
        if (!was_taken && value_ > least) --value_;
    }
    /// Sets the weakest value that predicts this outcome.
    constexpr void start(bool was_taken) { value_ = was_taken ? 0 : -1; }

  private:
    std::int8_t value_ = 0;
};

}  // namespace anyperf::models

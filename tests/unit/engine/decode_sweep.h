// decode_sweep.h: what the comparisons with Zydis share: how much of the work a build does, and how faults are shown.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>

#include "unit/engine/decode_oracle.h"

namespace anyperf::engine::x86_64 {

/// Unoptimised builds, sanitizers among them, look at a part only: at every nth case.
#ifdef __OPTIMIZE__
inline constexpr unsigned kThinning = 1;
#else
inline constexpr unsigned kThinning = 16;
#endif

/// Compares, and keeps the first faults.
class Sweep {
  public:
    /// How far to go on.
    std::size_t at(std::span<const std::uint8_t> bytes) {
        const Comparison comparison = compare(bytes);
        decoded_ += comparison.decoded;
        if (!comparison.faults.empty() && faults_++ < 20) shown_ += "\n" + comparison.faults;
        return comparison.length;
    }

    std::uint64_t decoded() const { return decoded_; }
    std::uint64_t faults() const { return faults_; }
    const std::string& shown() const { return shown_; }

  private:
    std::uint64_t decoded_ = 0;
    std::uint64_t faults_ = 0;
    std::string shown_;
};

}  // namespace anyperf::engine::x86_64

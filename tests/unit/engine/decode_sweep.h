// decode_sweep.h: shared by the comparisons with Zydis: how many of the cases a build runs, and how differences are
// shown.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>

#include "unit/engine/decode_oracle.h"

namespace anyperf::engine::x86_64 {

/// Optimised builds run every case; others, among them those with sanitizers, run every nth.
#ifdef __OPTIMIZE__
inline constexpr unsigned kThinning = 1;
#else
inline constexpr unsigned kThinning = 16;
#endif

/// Compares instructions with Zydis, counts them, and keeps the first 20 differences.
class Sweep {
  public:
    /// Compares the instruction at the start of `bytes`. Returns the bytes to the next one.
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

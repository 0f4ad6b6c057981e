// targets.h: predicts the targets of indirect branches and returns.
//
// An indirect jump or call is predicted to go where it went the last time on the same path. A table has these targets,
// indexed by the address of the branch and the targets of the last six indirect branches (K. Driesen and U. Hölzle,
// "Accurate indirect branch prediction", 1998). A return is predicted to go to the instruction after the last call that
// has not returned. A ring has these addresses, and forgets the oldest when it is full.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/branches/sites.h"

namespace anyperf::models {

/// It uses memory of the caller: words(bits) words, all 0 at first.
class IndirectTargets {
  public:
    IndirectTargets() = default;
    IndirectTargets(unsigned bits, std::uint64_t* memory) : targets_(memory), shift_(64 - bits) {}
    static constexpr std::size_t words(unsigned bits) { return std::size_t{1} << bits; }

    /// True: the branch at `address` was predicted to go elsewhere.
    bool mispredicts(std::uint64_t address, std::uint64_t target) {
        std::uint64_t& last = targets_[mixed(address ^ history_ << 20) >> shift_];
        const bool wrong = last != target;
        last = target;
        history_ = (history_ << kBitsOfATarget ^ mixed(target) >> 54) & kHistoryMask;
        return wrong;
    }

  private:
    static constexpr unsigned kBitsOfATarget = 5;
    static constexpr std::uint64_t kHistoryMask = (std::uint64_t{1} << 6 * kBitsOfATarget) - 1;
    std::uint64_t* targets_ = nullptr;
    std::uint64_t history_ = 0;
    unsigned shift_ = 0;
};

class ReturnStack {
  public:
    static constexpr std::size_t kMostEntries = 64;

    ReturnStack() = default;
    explicit ReturnStack(unsigned entries) : entries_(entries) {}

    void call(std::uint64_t return_address) {
        top_ = top_ + 1 == entries_ ? 0 : top_ + 1;
        addresses_[top_] = return_address;
        if (held_ < entries_) ++held_;
    }
    /// True: the return was predicted to go elsewhere, or the ring was empty.
    bool mispredicts(std::uint64_t target) {
        if (held_ == 0) return true;
        const std::uint64_t predicted = addresses_[top_];
        top_ = (top_ == 0 ? entries_ : top_) - 1;
        --held_;
        return predicted != target;
    }

  private:
    std::array<std::uint64_t, kMostEntries> addresses_{};
    unsigned entries_ = 1;
    unsigned top_ = 0;
    unsigned held_ = 0;
};

}  // namespace anyperf::models

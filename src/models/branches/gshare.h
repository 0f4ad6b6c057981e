// gshare.h: the direction predictor gshare: one table of two-bit counters, indexed by the address of the branch and the
// path that led to it (S. McFarling, "Combining Branch Predictors", 1993).
//
// The history is a path: only taken branches enter it, each with bits of its source and target, as in Intel's CPUs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/branches/counter.h"
#include "models/branches/sites.h"

namespace anyperf::models {

/// It uses memory of the caller: bytes(bits) bytes, all 0 at first.
class Gshare {
  public:
    Gshare() = default;
    Gshare(unsigned bits, std::uint8_t* memory)
        : counters_(reinterpret_cast<DirectionCounter<2>*>(memory)), bits_(bits) {}
    static constexpr std::size_t bytes(unsigned bits) { return std::size_t{1} << bits; }

    /// Predicts the branch at `address` and learns its direction. True: the prediction was wrong.
    bool mispredicts(std::uint64_t address, bool taken) {
        DirectionCounter<2>& counter = counters_[(mixed(address) >> (64 - bits_) ^ history_) & mask()];
        const bool wrong = counter.taken() != taken;
        counter.train(taken);
        return wrong;
    }

    /// A branch of any kind was taken.
    void note_taken(std::uint64_t from, std::uint64_t to) {
        history_ = (history_ << kShift ^ mixed(from ^ to << 1) >> (64 - kBitsOfABranch)) & mask();
    }

    // For generated code that predicts and learns itself (engine/modelling/replay_code.cpp).

    DirectionCounter<2>* counters() const { return counters_; }
    std::uint64_t* history() { return &history_; }
    unsigned bits() const { return bits_; }

    static constexpr unsigned kShift = 2;  ///< a branch leaves the history after bits / 2 others
    static constexpr unsigned kBitsOfABranch = 8;

  private:
    constexpr std::uint64_t mask() const { return (std::uint64_t{1} << bits_) - 1; }

    DirectionCounter<2>* counters_ = nullptr;
    std::uint64_t history_ = 0;
    unsigned bits_ = 0;
};
static_assert(sizeof(DirectionCounter<2>) == 1);

}  // namespace anyperf::models

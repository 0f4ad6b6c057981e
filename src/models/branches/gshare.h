// gshare.h: the direction predictor gshare: one table of two-bit counters, indexed by the address of the branch and the
// path that led to it (S. McFarling, "Combining Branch Predictors", 1993).
//
// The history is a path: of the branches that gshare predicts, the taken ones enter it, each with bits of its source
// and target. Other branches are decided by these and by the code, so they would only push older ones out.
//
// The index is a sum, not an exclusive or: x86 code adds in the address of its operand, without a flag
// (engine/x86_64/translate/predict.cpp). So a site and a path have one bit less than the table's index.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/branches/counter.h"
#include "models/branches/sites.h"

namespace anyperf::models {

/// It uses memory of the caller: bytes(bits) bytes and one word for the history, all 0 at first.
class Gshare {
  public:
    Gshare() = default;
    Gshare(unsigned bits, std::uint8_t* memory, std::uint32_t* history)
        : counters_(reinterpret_cast<DirectionCounter<2>*>(memory)), history_(history), bits_(bits) {}
    static constexpr std::size_t bytes(unsigned bits) { return std::size_t{1} << bits; }

    /// Predicts the branch at `address` and learns its direction. True: the prediction was wrong.
    bool mispredicts(std::uint64_t address, bool taken) {
        DirectionCounter<2>& counter = counters_[site(bits_, address) + *history_];
        const bool wrong = counter.taken() != taken;
        counter.train(taken);
        return wrong;
    }

    /// A branch that was predicted was taken.
    void note_taken(std::uint64_t from, std::uint64_t to) {
        *history_ = ((*history_ << kShift) + path(from, to)) & ((std::uint32_t{1} << (bits_ - 1)) - 1);
    }

    // For generated code that predicts and learns itself (engine/modelling/replay_code.cpp,
    // engine/x86_64/translate/predict.cpp).

    DirectionCounter<2>* counters() const { return counters_; }
    std::uint32_t* history() const { return history_; }
    unsigned bits() const { return bits_; }

    static constexpr unsigned kShift = 2;  ///< a branch leaves the history after bits / 2 others
    static constexpr unsigned kBitsOfABranch = 8;
    /// What a site adds to the history for an index.
    static constexpr std::uint32_t site(unsigned bits, std::uint64_t address) {
        return static_cast<std::uint32_t>(mixed(address) >> (65 - bits));
    }
    /// What a taken branch adds to the history.
    static constexpr std::uint32_t path(std::uint64_t from, std::uint64_t to) {
        return static_cast<std::uint32_t>(mixed(from ^ to << 1) >> (64 - kBitsOfABranch));
    }

  private:
    DirectionCounter<2>* counters_ = nullptr;
    std::uint32_t* history_ = nullptr;
    unsigned bits_ = 0;
};
static_assert(sizeof(DirectionCounter<2>) == 1);

}  // namespace anyperf::models

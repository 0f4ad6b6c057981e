// tage.h: the direction predictor TAGE: a base table, and tagged tables with longer and longer histories (A. Seznec and
// P. Michaud, "A case for (partially) tagged geometric history length branch predictors", 2006).
//
// Of the tables that know the branch, the one with the longest history predicts it. An entry is useful if it was right
// where the next shorter history would have been wrong. A misprediction allocates an entry with a longer history, in
// place of one that is not useful. The histories have 5 to 180 outcomes. Hardware would need about 25 KiB: six tables
// of 2,048 entries of 15 bits, and 8,192 counters of two bits.
//
// Everything is deterministic: the choice among tables for a new entry uses a generator with a fixed start.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "models/branches/counter.h"

namespace anyperf::models {

namespace tage {

inline constexpr unsigned kTables = 6;
inline constexpr unsigned kIndexBits = 11;
inline constexpr unsigned kTagBits = 10;
inline constexpr unsigned kBaseBits = 13;
inline constexpr std::array<unsigned, kTables> kLengths{5, 11, 22, 45, 90, 180};

/// The last 256 outcomes, the newest at 0.
class History {
  public:
    constexpr bool outcome(unsigned age) const { return words_[age / 64] >> (age % 64) & 1; }
    constexpr void push(bool taken) {
        for (std::size_t i = words_.size() - 1; i > 0; --i) words_[i] = words_[i] << 1 | words_[i - 1] >> 63;
        words_[0] = words_[0] << 1 | static_cast<std::uint64_t>(taken);
    }

  private:
    std::array<std::uint64_t, 4> words_{};
};

/// The newest `length` outcomes folded to `bits` by exclusive or, kept up to date outcome by outcome.
class FoldedHistory {
  public:
    constexpr std::uint32_t value() const { return value_; }
    constexpr void push(bool newest, bool leaves, unsigned length, unsigned bits) {
        value_ = value_ << 1 | static_cast<std::uint32_t>(newest);
        value_ ^= static_cast<std::uint32_t>(leaves) << length % bits;
        value_ ^= value_ >> bits;
        value_ &= (1U << bits) - 1;
    }

  private:
    std::uint32_t value_ = 0;
};

struct Entry {
    DirectionCounter<3> direction;
    std::uint8_t useful = 0;  ///< 0 to 3
    std::uint16_t tag = 0;
};

}  // namespace tage

/// About 57 KiB of plain data. Its first state is not all zeros, so its constructor must run.
class Tage {
  public:
    /// Predicts the branch at `address` and learns its direction. True: the prediction was wrong.
    bool mispredicts(std::uint64_t address, bool taken);

  private:
    static constexpr unsigned kNone = tage::kTables;

    /// Where a branch is looked up, and what the tables say.
    struct Look {
        std::array<std::uint32_t, tage::kTables> index;
        std::array<std::uint16_t, tage::kTables> tag;
        unsigned provider = kNone;   ///< the table with the longest history that knows the branch
        unsigned alternate = kNone;  ///< the next shorter one
        std::size_t base = 0;
        bool provider_says = false;
        bool alternate_says = false;
        bool fresh = false;  ///< the provider's entry is new: its direction is weak and it was never useful
    };

    Look look(std::uint64_t address) const;
    bool choose(const Look& look) const;
    void train(const Look& look, bool taken);
    void allocate(const Look& look, bool taken);
    void forget_some_uses();
    void push(bool taken);

    std::array<DirectionCounter<2>, std::size_t{1} << tage::kBaseBits> base_{};
    std::array<std::array<tage::Entry, std::size_t{1} << tage::kIndexBits>, tage::kTables> tables_{};
    tage::History history_;
    std::array<tage::FoldedHistory, tage::kTables> index_fold_{};
    std::array<tage::FoldedHistory, tage::kTables> tag_fold_{};
    std::array<tage::FoldedHistory, tage::kTables> tag_fold_shorter_{};
    DirectionCounter<4> trust_alternate_;  ///< whether the alternates of fresh entries have been right more often
    std::uint32_t random_ = 1;
    std::uint32_t allocations_ = 0;
};

}  // namespace anyperf::models

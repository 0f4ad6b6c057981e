// chain_texts.h: the texts of whole call chains that were printed before. A program spends its time in a few places, so
// most chains of a recording come again and again. A chain of twenty frames is then found by its words and copied at
// once, instead of frame by frame.
//
// A chain is kept when it comes for the second time: many come only once. There is one place for each hash value, which
// the newer chain takes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/processes.h"
#include "perfdata/sample_layout.h"

namespace anyperf::cli {

class ChainTexts {
  public:
    /// What the text depends on.
    struct Key {
        perfdata::Numbers chain;
        analysis::SpaceId space = 0;
        std::uint32_t event = 0;  ///< its fields
        std::uint64_t hash = 0;   ///< of all the above: hash_of()
    };
    static std::uint64_t hash_of(const perfdata::Numbers& chain, analysis::SpaceId space, std::uint32_t event);

    ChainTexts() : slots_(kSlots) {}

    /// The text; empty if there is none. `version` is that of the processes now. Valid until the next insert().
    std::string_view find(const Key& key, std::uint64_t version) const;

    /// Whether the chain has come before, so that its text should be kept. From now on it has.
    bool has_come(const Key& key);

    /// Keeps a text, which is not empty. `version`: while the processes have it the text is right; kAlways: for ever.
    void insert(const Key& key, std::string_view text, std::uint64_t version);
    static constexpr std::uint64_t kAlways = ~std::uint64_t{0};

  private:
    struct Slot {
        std::uint64_t hash = 0, version = 0;
        analysis::SpaceId space = 0;
        std::uint32_t event = 0;
        std::uint32_t first_word = 0, words = 0;
        std::uint32_t begin = 0, size = 0;  ///< of the text; 0: none is kept
    };
    static constexpr std::size_t kSlots = 1 << 13;
    /// Beyond this all chains are forgotten.
    static constexpr std::size_t kMostBytes = 16 << 20;

    Slot& slot_of(std::uint64_t hash) { return slots_[hash & (kSlots - 1)]; }

    std::vector<Slot> slots_;
    std::vector<std::uint64_t> words_;
    std::string texts_;
};

}  // namespace anyperf::cli

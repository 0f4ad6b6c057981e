// frame_texts.h: the texts of frames that were printed before. A recording has some thousand different frames and
// prints each of them a thousand times, so finding a text must cost about as much as copying it: one array with linear
// probing, and all texts in another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/processes.h"
#include "analysis/raw_stacks.h"

namespace anyperf::cli {

/// What the text of a frame ("ip symbol+0x1 (dso)") depends on, besides the fields.
struct FrameKey {
    std::uint64_t address = 0;
    analysis::SpaceId space = 0;
    analysis::RawFrame::Mode mode = analysis::RawFrame::user;
    bool in_chain = false;  ///< of a call chain; false: the address of a sample without one
    bool caller = false;    ///< the address is where its callee returns to
    bool operator==(const FrameKey&) const = default;
};

class FrameTexts {
  public:
    FrameTexts() : slots_(kFirstSlots) {}

    /// The text of `key`; empty if there is none. Valid until the next insert().
    std::string_view find(const FrameKey& key) const {
        for (std::size_t i = slot_of(key); slots_[i].size != 0; i = (i + 1) & (slots_.size() - 1))
            if (slots_[i].key == key) return {texts_.data() + slots_[i].begin, slots_[i].size};
        return {};
    }

    /// Keeps a text, which is not empty. `key` has none yet.
    void insert(const FrameKey& key, std::string_view text);

  private:
    struct Slot {
        FrameKey key;
        std::uint32_t begin = 0;
        std::uint32_t size = 0;  ///< of the text; 0: the slot is free
    };
    static constexpr std::size_t kFirstSlots = 1 << 12;
    /// A JIT makes new frames for ever, whose old ones do not return: beyond this all texts are forgotten.
    static constexpr std::size_t kMostBytes = 16 << 20;

    std::size_t slot_of(const FrameKey& key) const {
        const std::uint64_t bits =
            (key.address ^ std::uint64_t{key.space} << 40 ^ static_cast<std::uint64_t>(key.mode) << 2 ^
             std::uint64_t{key.in_chain} << 1 ^ std::uint64_t{key.caller}) *
            0x9e37'79b9'7f4a'7c15u;
        return (bits ^ bits >> 32) & (slots_.size() - 1);
    }
    Slot& free_slot(const FrameKey& key);

    std::vector<Slot> slots_;  ///< a power of two, at most half of them used
    std::size_t used_ = 0;
    std::string texts_;
};

}  // namespace anyperf::cli

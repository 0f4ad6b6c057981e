// frame_texts.h: the texts of frames that were printed before. A recording has some thousand different frames and
// prints each of them a thousand times, so finding a text must cost about as much as copying it: one array with linear
// probing, of 16 bytes a frame, and all texts in another, each after its size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
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
    FrameTexts();

    /// Fetches the memory that append() will look at.
    void prefetch(const FrameKey& key) const { __builtin_prefetch(&slots_[first_slot(key.address, kind_of(key))]); }

    /// Appends the text of `key` to `text`. Returns false if `key` has no text.
    bool append(const FrameKey& key, std::string& text) const {
        const Slot& slot = slots_[slot_of(key.address, kind_of(key))];
        if (slot.begin == 0) return false;
        std::uint32_t size = 0;
        std::memcpy(&size, texts_.get() + slot.begin - sizeof size, sizeof size);
        append_padded(texts_.get() + slot.begin, size, text);
        return true;
    }

    /// Keeps a text, which is not empty. `key` has none yet.
    void insert(const FrameKey& key, std::string_view text);

  private:
    struct Slot {
        std::uint64_t address = 0;
        std::uint32_t kind = 0;   ///< the rest of the key
        std::uint32_t begin = 0;  ///< of the text; 0: the slot is free
    };
    static constexpr std::size_t kFirstSlots = 1 << 12;
    /// A JIT makes new frames for ever, whose old ones do not return: beyond this all texts are forgotten.
    static constexpr std::size_t kMostBytes = 6 << 20;
    /// Texts are copied in blocks, which takes less time than memcpy(3) for the some 60 bytes of a frame. So a block
    /// may begin at the last byte of a text.
    static constexpr std::size_t kBlock = 32;

    static std::uint32_t kind_of(const FrameKey& key) {
        return key.space << 4 | static_cast<std::uint32_t>(key.mode) << 2 |
               static_cast<std::uint32_t>(key.in_chain) << 1 | static_cast<std::uint32_t>(key.caller);
    }
    static void append_padded(const char* from, std::size_t size, std::string& text) {
        const std::size_t begin = text.size(), end = begin + size;
        text.resize_and_overwrite(end + kBlock, [&](char* to, std::size_t) {
            for (std::size_t at = begin; at < end; at += kBlock, from += kBlock) std::memcpy(to + at, from, kBlock);
            return end;
        });
    }

    std::size_t first_slot(std::uint64_t address, std::uint32_t kind) const {
        const std::uint64_t bits = (address ^ std::uint64_t{kind} << 36) * 0x9e37'79b9'7f4a'7c15u;
        return (bits ^ bits >> 32) & (slots_.size() - 1);
    }
    /// The slot of a key, or the free one that it would get.
    std::size_t slot_of(std::uint64_t address, std::uint32_t kind) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = first_slot(address, kind);
        while (slots_[at].begin != 0 && (slots_[at].address != address || slots_[at].kind != kind))
            at = (at + 1) & mask;
        return at;
    }
    void forget();

    std::vector<Slot> slots_;  ///< a power of two, at most half of them used
    std::size_t used_ = 0;
    std::unique_ptr<char[]> texts_;  ///< kMostBytes and a block. Only what is used is memory
    std::size_t end_ = 0;            ///< of the texts so far
};

}  // namespace anyperf::cli

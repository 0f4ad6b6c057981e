// frame_texts.h: the texts of frames that were printed before. A recording has some hundred thousand different frames
// and prints each of them many times, so finding a text must cost about as much as copying it, and the texts should fit
// into the second level cache.
//
// A frame is "address symbol+0x1 (dso)". Only the two numbers are its own, and both are its address plus a constant. So
// what is kept of a frame is 16 bytes: the number of its form, in one array with linear probing. A form is the two
// constants and the two texts around the second number, which all frames of a function in a process share; the texts
// are those of all processes.
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
#include "cli/script/hexadecimal.h"
#include "large_memory.h"

namespace anyperf::cli {

/// What the text of a frame depends on, besides the fields.
struct FrameKey {
    std::uint64_t address = 0;
    analysis::SpaceId space = 0;
    analysis::RawFrame::Mode mode = analysis::RawFrame::user;
    bool in_chain = false;  ///< of a call chain; false: the address of a sample without one
    bool caller = false;    ///< the address is where its callee returns to
    bool operator==(const FrameKey&) const = default;
};

/// A text that FrameTexts keeps.
struct KeptText {
    std::uint32_t begin = 0, size = 0;
    bool operator==(const KeptText&) const = default;
};

/// How an address becomes text: [tab][address + shown]head[address + within]tail.
struct FrameForm {
    std::uint64_t shown = 0, within = 0;
    KeptText head{}, tail{};
    bool has_tab = false, has_address = false, has_offset = false;
    bool operator==(const FrameForm&) const = default;
};

class FrameTexts {
  public:
    static constexpr std::uint32_t kNone = ~std::uint32_t{0};  ///< no number of a form

    FrameTexts();

    /// Fetches the memory that append() will look at.
    void prefetch(const FrameKey& key) const { __builtin_prefetch(&slots_[first_slot(key.address, kind_of(key))]); }

    /// Fetches the text that append() will copy first.
    void prefetch(const FrameForm& form) const { __builtin_prefetch(texts_.get() + form.head.begin); }

    /// The number of the key's form, or kNone.
    std::uint32_t find(const FrameKey& key) const { return slots_[slot_of(key.address, kind_of(key))].form; }
    const FrameForm& form(std::uint32_t number) const { return forms_[number]; }
    /// Appends what the address becomes.
    void append(const FrameForm& form, std::uint64_t address, std::string& text) const;

    /// Adds a form and returns its number.
    std::uint32_t add(const FrameForm& form) {
        forms_.push_back(form);
        return static_cast<std::uint32_t>(forms_.size() - 1);
    }
    /// Keeps how the frame becomes text. `key` has no form yet.
    void insert(const FrameKey& key, std::uint32_t form);

    /// Makes room for a frame with texts of this size. Must be called before keep(), add() and insert(). If the array
    /// of frames is full, all frames are forgotten, and texts and forms stay. If the memory of texts or that of forms
    /// is full, everything is forgotten, and texts and forms of earlier calls are not valid any more (see version()).
    /// Returns false if the texts are longer than all of the memory.
    [[nodiscard]] bool make_room(std::size_t size);
    /// Keeps a text. Precondition: make_room().
    KeptText keep(std::string_view text);
    /// Changes when everything is forgotten.
    std::uint64_t version() const { return version_; }

  private:
    struct Slot {
        std::uint64_t address = 0;
        std::uint32_t kind = 0;      ///< the rest of the key
        std::uint32_t form = kNone;  ///< kNone: the slot is free
    };
    using Slots = std::vector<Slot, LargeAllocator<Slot>>;
    static constexpr std::size_t kFirstSlots = 1 << 12, kGrowth = 2;
    /// A JIT makes new frames for ever, whose old ones do not return. A process that ends leaves its frames, and the
    /// next one of the same program has others with the same texts.
    static constexpr std::size_t kMostFrames = 3 << 15, kMostForms = 1 << 16, kMostBytes = 6 << 20;
    /// Texts are copied in blocks, which takes less time than memcpy(3) for some ten bytes. So a block may begin at the
    /// last byte of a text.
    static constexpr std::size_t kBlock = 32;

    static std::uint32_t kind_of(const FrameKey& key) {
        return key.space << 4 | static_cast<std::uint32_t>(key.mode) << 2 |
               static_cast<std::uint32_t>(key.in_chain) << 1 | static_cast<std::uint32_t>(key.caller);
    }
    /// Writes up to a block more than the text, and returns its end.
    char* copy(KeptText text, char* to) const {
        const char* from = texts_.get() + text.begin;
        for (std::size_t at = 0; at < text.size; at += kBlock) std::memcpy(to + at, from + at, kBlock);
        return to + text.size;
    }

    std::size_t first_slot(std::uint64_t address, std::uint32_t kind) const {
        const std::uint64_t bits = (address ^ std::uint64_t{kind} << 36) * 0x9e37'79b9'7f4a'7c15u;
        return (bits ^ bits >> 32) & (slots_.size() - 1);
    }
    /// The slot of a key, or the free one that it would get.
    std::size_t slot_of(std::uint64_t address, std::uint32_t kind) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t at = first_slot(address, kind);
        while (slots_[at].form != kNone && (slots_[at].address != address || slots_[at].kind != kind))
            at = (at + 1) & mask;
        return at;
    }
    void forget_frames();
    void forget();

    Slots slots_;  ///< a power of two, at most three quarters of them used
    std::size_t used_ = 0;
    std::vector<FrameForm> forms_;
    std::unique_ptr<char[]> texts_;  ///< kMostBytes and a block. Only what is used is memory
    std::size_t end_ = 0;            ///< of the texts so far
    std::uint64_t version_ = 0;
};

inline void FrameTexts::append(const FrameForm& form, std::uint64_t address, std::string& text) const {
    const std::size_t begin = text.size();
    const std::size_t most = 1 + 2 * kHexadecimalDigits + form.head.size + form.tail.size + kBlock;
    text.resize_and_overwrite(begin + most, [&](char* to, std::size_t) {
        char* at = to + begin;
        if (form.has_tab) *at++ = '\t';
        if (form.has_address) {
            write_column(address + form.shown, at);
            at += kHexadecimalDigits;
        }
        at = copy(form.head, at);
        if (form.has_offset) at = write_number(address + form.within, at);
        at = copy(form.tail, at);
        return static_cast<std::size_t>(at - to);
    });
}

}  // namespace anyperf::cli

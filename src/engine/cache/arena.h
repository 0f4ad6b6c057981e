// arena.h: memory for translated code, near the code that it translates. Rip-relative operands reach 2 GiB; programs
// are near 0x555… and libraries near 0x7f…, so each neighbourhood gets an arena. Hot code (blocks) and cold code
// (stubs, indirect entries, constants) are apart. Memory is only appended, and freed all at once.
//
// Each kind first has a part of the arena's first large page, so that a small program touches one page for both, and
// then a large part of its own:
//
//   0         kFirstHotBytes     kFirstBytes        kHotBytes         kBytes
//   | hot     | cold             | hot              | cold            |
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/cache/block.h"
#include "engine/cache/code_memory.h"
#include "engine/freestanding/pages.h"
#include "engine/freestanding/pages_ahead.h"

namespace anyperf::engine {

class Arena {
  public:
    static constexpr std::size_t kBytes = std::size_t{64} << 20;
    static constexpr std::size_t kHotBytes = std::size_t{40} << 20;
    static constexpr std::size_t kFirstBytes = kLargePageBytes;
    /// A block has about two thirds as much cold code as hot code.
    static constexpr std::size_t kFirstHotBytes = std::size_t{1280} << 10;
    /// Of hot or of cold code, more than the longest block takes.
    static constexpr std::size_t kRoomForOneBlock = 65536;
    /// Blocks have more than 16 bytes on average; arena_for() takes another arena if there are more.
    static constexpr std::size_t kMaximumBlocks = kHotBytes / 16;

    /// Maps the arena within reach of `pc`. False if there is no room near it, or the kernel refuses. `separate`: with
    /// separate writes. `large`: its first page is to be a large one, because there is much code.
    bool map_near(std::uint64_t pc, bool separate, bool large);
    /// Maps the arena wherever the kernel likes.
    bool map_anywhere(bool separate);

    /// Whether every byte of the arena reaches `address` by a 32-bit displacement.
    bool reaches(std::uint64_t address) const;
    bool holds(std::uint64_t host) const { return memory_.holds(host); }

    /// The address in the arena that has these low 32 bits; 0 if there is none.
    std::uint64_t address_with_low_half(std::uint32_t low) const {
        const std::uint32_t offset = low - static_cast<std::uint32_t>(memory_.start());
        return offset < kBytes ? memory_.start() + offset : 0;
    }

    const std::uint8_t* hot_start() const { return at(0); }
    const std::uint8_t* cold_start() const { return at(kFirstHotBytes); }
    /// The free part of each kind, to write code into, to_writable() bytes further on. commit() keeps what was written.
    std::span<std::uint8_t> hot() const { return {at(hot_.next), at(hot_.end())}; }
    std::span<std::uint8_t> cold() const { return {at(cold_.next), at(cold_.end())}; }
    /// Whether there is room for another block.
    bool has_room() const {
        return hot().size() > kRoomForOneBlock && cold().size() > kRoomForOneBlock && block_count_ < kMaximumBlocks;
    }
    bool has_separate_writes() const { return memory_.has_separate_writes(); }
    std::ptrdiff_t to_writable() const { return memory_.to_writable(); }

    /// Adds the new block `block` to the arena. Its code ends at `hot_end` and `cold_end`, in the free parts.
    /// Precondition: the arena has fewer than kMaximumBlocks.
    void commit(BlockId block, const std::uint8_t* hot_end, const std::uint8_t* cold_end);
    /// Adds code that belongs to no block, up to `cold_end` in the cold part.
    void commit_cold(const std::uint8_t* cold_end);

    /// What has been committed to the cold part so far survives free_all().
    void retain_cold() { retained_cold_ = cold_.next; }
    /// Whether something survives free_all(), so that the arena has been prepared for use.
    bool has_retained() const { return retained_cold_ != kFirstHotBytes; }
    /// Frees everything else. Precondition: no thread is in it.
    void free_all();
    /// Bytes that have been committed since the last free_all(), with the list of blocks.
    std::size_t bytes() const {
        return hot_.bytes() + cold_.bytes() - (retained_cold_ - kFirstHotBytes) + block_count_ * sizeof(BlockId);
    }

    /// How many pages have been touched, about: a large page is one.
    std::size_t touched_pages() const;

    /// Its blocks, by rising host address.
    const BlockId* blocks() const { return blocks_; }
    std::size_t block_count() const { return block_count_; }

    /// Around a fork (code_memory.h).
    bool begin_copy();
    void drop_copy() { memory_.drop_copy(); }
    bool take_copy() { return memory_.take_copy(); }

  private:
    std::uint8_t* at(std::size_t offset) const { return reinterpret_cast<std::uint8_t*>(memory_.start() + offset); }
    /// One of the two parts of a kind of code, from the offset `start` to `end`.
    struct Part {
        std::size_t start = 0, end = 0;
        PagesAhead pages;
    };
    /// Code of one kind: it fills the first part, then the second one.
    struct Code {
        Part first, second;
        std::size_t next = first.start;  ///< the offset of the next byte

        bool in_first() const { return next <= first.end; }
        std::size_t end() const { return in_first() ? first.end : second.end; }
        /// A part that has too little room for a block is full.
        void move_to(std::size_t offset) {
            next = in_first() && first.end - offset <= kRoomForOneBlock ? second.start : offset;
        }
        /// Bytes from the start on; those that the first part has left are counted, too.
        std::size_t bytes() const {
            return in_first() ? next - first.start : first.end - first.start + next - second.start;
        }
    };
    bool map_at(std::uint64_t address, bool exactly, bool separate, bool large);
    std::uint64_t writable_start() const { return memory_.start() + static_cast<std::uint64_t>(memory_.to_writable()); }
    void ready_pages();

    CodeMemory memory_;
    Code hot_{{0, kFirstHotBytes, {}}, {kFirstBytes, kHotBytes, {}}};
    Code cold_{{kFirstHotBytes, kFirstBytes, {}}, {kHotBytes, kBytes, {}}};
    PagesAhead block_pages_;  ///< of `blocks_`
    bool large_ = false;      ///< its first page is a large one, if the kernel has one
    std::size_t retained_cold_ = kFirstHotBytes;
    BlockId* blocks_ = nullptr;
    std::size_t block_count_ = 0;
};

}  // namespace anyperf::engine

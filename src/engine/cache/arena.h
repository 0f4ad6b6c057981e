// arena.h: memory for translated code, near the code that it translates. Rip-relative operands reach 2 GiB; programs
// are near 0x555… and libraries near 0x7f…, so each neighbourhood gets an arena. Hot code (blocks) grows from its
// start, cold code (stubs, indirect entries, constants) from kHotBytes on. Memory is only appended, and freed all at
// once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/cache/block.h"
#include "engine/cache/code_memory.h"
#include "engine/freestanding/pages_ahead.h"

namespace anyperf::engine {

class Arena {
  public:
    static constexpr std::size_t kBytes = std::size_t{64} << 20;
    static constexpr std::size_t kHotBytes = std::size_t{40} << 20;
    /// Blocks have more than 16 bytes on average; arena_for() takes another arena if there are more.
    static constexpr std::size_t kMaximumBlocks = kHotBytes / 16;

    /// Maps the arena within reach of `pc`. False if there is no room near it, or the kernel refuses. `separate`: with
    /// separate writes.
    bool map_near(std::uint64_t pc, bool separate);
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
    const std::uint8_t* cold_start() const { return at(kHotBytes); }
    /// The free part of each half, to write code into, to_writable() bytes further on. commit() keeps what was written.
    std::span<std::uint8_t> hot() const { return {at(hot_), at(kHotBytes)}; }
    std::span<std::uint8_t> cold() const { return {at(cold_), at(kBytes)}; }
    bool has_separate_writes() const { return memory_.has_separate_writes(); }
    std::ptrdiff_t to_writable() const { return memory_.to_writable(); }

    /// Adds the new block `block` to the arena. Its code ends at `hot_end` and `cold_end`, in the free parts.
    /// Precondition: the arena has fewer than kMaximumBlocks.
    void commit(BlockId block, const std::uint8_t* hot_end, const std::uint8_t* cold_end);
    /// Adds code that belongs to no block, up to `cold_end` in the cold part.
    void commit_cold(const std::uint8_t* cold_end);

    /// What has been committed to the cold part so far survives free_all().
    void retain_cold() { retained_cold_ = cold_; }
    /// Whether something survives free_all(), so that the arena has been prepared for use.
    bool has_retained() const { return retained_cold_ != kHotBytes; }
    /// Frees everything else. Precondition: no thread is in it.
    void free_all();
    /// Bytes that have been committed since the last free_all(), with the list of blocks.
    std::size_t bytes() const { return hot_ + (cold_ - retained_cold_) + block_count_ * sizeof(BlockId); }

    /// How many pages have been touched, about: a large page is one.
    std::size_t touched_pages() const;

    /// Its blocks, by rising host address.
    const BlockId* blocks() const { return blocks_; }
    std::size_t block_count() const { return block_count_; }

    /// Around a fork (code_memory.h).
    bool begin_copy() { return memory_.begin_copy({0, hot_, kHotBytes, cold_ - kHotBytes}); }
    void drop_copy() { memory_.drop_copy(); }
    bool take_copy() { return memory_.take_copy(); }

  private:
    std::uint8_t* at(std::size_t offset) const { return reinterpret_cast<std::uint8_t*>(memory_.start() + offset); }
    bool map_at(std::uint64_t address, bool exactly, bool separate);
    std::uint64_t writable_start() const { return memory_.start() + static_cast<std::uint64_t>(memory_.to_writable()); }
    void ready_pages();

    CodeMemory memory_;
    PagesAhead hot_pages_;
    PagesAhead cold_pages_;
    PagesAhead block_pages_;  ///< of `blocks_`
    std::size_t hot_ = 0;
    std::size_t cold_ = kHotBytes;
    std::size_t retained_cold_ = kHotBytes;
    BlockId* blocks_ = nullptr;
    std::size_t block_count_ = 0;
};

}  // namespace anyperf::engine

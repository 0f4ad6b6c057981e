// arena.h: memory for translated code, near the code that it translates: rip-relative operands reach 2 GiB, and images
// stand near 0x555… and libraries near 0x7f…, so each neighbourhood has an arena of its own. Hot code grows from its
// start, cold code (stubs, landings, constants) from further up.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cache/block.h"
#include "engine/x86_64/emitter.h"

namespace anyperf::engine {

class Arena {
  public:
    static constexpr std::size_t kBytes = std::size_t{64} << 20;
    static constexpr std::size_t kHotBytes = std::size_t{40} << 20;
    static constexpr std::size_t kMaximumBlocks = kHotBytes / 16;  ///< no translation is shorter

    /// Maps an arena within reach of `pc`. False where there is no room near it, or the kernel refuses.
    bool map_near(std::uint64_t pc);
    bool map_anywhere();

    /// Whether every byte of the arena reaches `address` by a 32-bit displacement.
    bool reaches(std::uint64_t address) const;
    bool holds(std::uint64_t host) const { return host - base_ < kBytes; }

    /// The address in it with these low 32 bits; 0: none.
    std::uint64_t with_low_half(std::uint32_t low) const {
        const std::uint32_t offset = low - static_cast<std::uint32_t>(base_);
        return offset < kBytes ? base_ + offset : 0;
    }

    const std::uint8_t* cold_start() const { return at(kHotBytes); }
    x86_64::Emitter hot() const { return {at(hot_), at(kHotBytes)}; }
    x86_64::Emitter cold() const { return {at(cold_), at(kBytes)}; }

    /// What the emitters have written becomes part of the arena. `block` is the block that the hot part is; 0 for none.
    void commit(const x86_64::Emitter& hot, const x86_64::Emitter& cold, BlockId block);

    /// What has been committed to the cold part stays there; `drop` empties the rest.
    void keep() { kept_ = cold_; }
    void drop();
    /// Bytes of memory that it has touched.
    std::size_t bytes() const { return hot_ + (cold_ - kept_) + block_count_ * sizeof(BlockId); }

    /// Blocks by rising host address.
    const BlockId* blocks() const { return blocks_; }
    std::size_t block_count() const { return block_count_; }

  private:
    std::uint8_t* at(std::size_t offset) const { return reinterpret_cast<std::uint8_t*>(base_ + offset); }
    bool map_at(std::uint64_t address, bool exactly);

    std::uint64_t base_ = 0;
    std::size_t hot_ = 0;
    std::size_t cold_ = kHotBytes;
    std::size_t kept_ = kHotBytes;
    BlockId* blocks_ = nullptr;
    std::size_t block_count_ = 0;
};

}  // namespace anyperf::engine

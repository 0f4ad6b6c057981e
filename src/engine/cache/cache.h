// cache.h: the translated code of this process: blocks by application address, exits, the table of indirect targets.
// One for all threads; whoever changes it holds `lock`. Translated code that other threads run is only ever changed by
// one aligned store (Exit::operand, a table entry).
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cache/arena.h"
#include "engine/cache/block.h"
#include "engine/cache/page_index.h"
#include "engine/cache/pool.h"
#include "engine/freestanding/lock.h"
#include "engine/memory/executable_map.h"

namespace anyperf::engine {

class Cache {
  public:
    static constexpr std::uint32_t kMaximumArenas = 64;
    static constexpr std::uint32_t kMaximumBlocks = 1u << 22;
    static constexpr std::size_t kTableEntries = 65536;  ///< by the low 16 bits of an application address: one movzx

    /// Reserves address space for the records; false where the kernel refuses.
    bool reserve();

    /// The block that starts at `pc` and was made with `limit`; null where it has not been translated.
    Block* find(std::uint64_t pc, std::uint16_t limit = 0);
    /// The same will be asked for soon: the table of a large program is in no cache.
    void prefetch(std::uint64_t pc) const { __builtin_prefetch(&slots_[hash(pc, 0) & (slot_count_ - 1)]); }
    /// Makes a new block known. False where memory ran out: it is not.
    bool add(Block& block);
    BlockId id_of(const Block& block) { return static_cast<BlockId>(&block - &blocks[0]); }

    /// The rel32 of an exit that can be linked.
    std::uint8_t* operand_of(const Exit& exit) { return blocks[exit.from].host + exit.operand; }
    const std::uint8_t* stub_of(const Exit& exit) { return operand_of(exit) + exit.stub; }
    /// Patches `exit` to go straight to `block`.
    void link(ExitId exit, Block& block);
    /// A landing for `pc` that is still to be written; 0 where there is no room for its record.
    LandingId new_landing(std::uint64_t pc);
    /// Gives the block a landing for indirect branches; leaves it without one where there is no room.
    void add_landing(Block& block);
    /// Indirect branches find the landing from now on.
    void add_to_table(LandingId id);
    /// Keeps a copy of what the block was translated from, so that `is_stale` can tell. Such a block is entered from
    /// the engine alone: it is never linked and has no landing. False where there is no room for it.
    bool keep_code(Block& block, const std::uint8_t* code);
    /// Whether the code of a block with a copy is not what was translated.
    static bool is_stale(const Block& block);
    /// Nothing leads to the block any more; a thread that is in it finishes it.
    void remove(Block& block);
    /// Removes every block with bytes in [start, end).
    void remove_range(std::uint64_t start, std::uint64_t end);
    /// Removes every block.
    void remove_all();
    /// Frees the memory of all blocks. Precondition: all are removed, and no thread is in one or refers to one.
    void drop_all();

    /// Bytes of memory that translations and records about them take.
    std::size_t bytes() const;
    /// Whether they take more than they may: `most`, or what is fair for the code that runs.
    bool is_full() const;

    /// The arena to translate `pc` in: with room, within reach where that can be had. Null: no memory.
    Arena* arena_for(std::uint64_t pc);

    /// Block whose hot code holds a host address; null for stubs, landings and routines.
    Block* holding(std::uint64_t host);
    bool is_translated_code(std::uint64_t host) const;
    /// The address of a block's hot code that has these low 32 bits; 0: none.
    std::uint64_t host_with_low_half(std::uint32_t low);

    /// Table of host addresses that indirect branches jump through, below 2 GiB so that an instruction can name it.
    std::uint64_t* table() const { return table_; }
    /// Where an indirect branch goes whose target has no landing.
    std::uint64_t nowhere() const { return table_default_; }
    /// Every entry leads to `host` until it is set.
    void fill_table(std::uint64_t host);

    Lock lock;
    bool landings_loop = false;    ///< x86_64/landing.h; set before there is any
    bool flushing = false;         ///< who holds the lock waits until no thread is in translated code
    std::uint32_t generation = 0;  ///< of blocks and exits: their numbers begin anew with each drop_all
    std::size_t most = 0;          ///< bytes; 0: there is none but what is fair
    std::uint64_t live_code = 0;   ///< bytes of application code that is translated
    std::uint64_t seen_code = 0;   ///< the same with what has changed meanwhile
    Pool<Block, kMaximumBlocks> blocks;
    Pool<Exit, 1u << 23> exits;
    Pool<Mark, 1u << 25> marks;
    Pool<Landing, 1u << 22> landings;
    Pool<std::uint8_t, 1u << 26> copies;
    ExecutableMap executable;
    Arena arenas[kMaximumArenas];
    std::uint32_t arena_count = 0;

  private:
    /// Of the table of blocks. Its hash tells nearly all of them apart without a look at their records.
    struct Slot {
        BlockId id = 0;
        std::uint32_t hash = 0;
    };

    Arena* begin_arena();
    bool grow();
    bool insert(BlockId id);
    void put(const Slot& slot);
    void take_out(LandingId id);
    void remove_in_page(std::uint64_t page, std::uint64_t start, std::uint64_t end);
    void remove_by_scan(std::uint64_t start, std::uint64_t end);
    void set_table(std::size_t slot, std::uint64_t host) { __atomic_store_n(&table_[slot], host, __ATOMIC_RELEASE); }
    void unlink(Block& block);
    bool erase(const Block& block);
    static std::uint32_t hash(std::uint64_t pc, std::uint16_t limit) {
        return static_cast<std::uint32_t>(((pc + (std::uint64_t{limit} << 48)) * 0x9e3779b97f4a7c15u) >> 32);
    }

    PageIndex pages_;
    Slot* slots_ = nullptr;  ///< open addressing, linear
    std::size_t slot_count_ = 0;
    std::size_t filled_ = 0;
    std::uint64_t* table_ = nullptr;
    LandingId* heads_ = nullptr;  ///< of each entry of the table, the landing that it leads to
    std::uint64_t table_default_ = 0;
    std::uint64_t crowded_ = ~std::uint64_t{0};  ///< where the last search for a place of an arena found none, in GiB
};

}  // namespace anyperf::engine

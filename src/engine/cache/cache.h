// cache.h: the code cache of this process: translated blocks by application address, their exits, and the table by
// which indirect branches find them. One cache serves all threads.
//
// How blocks live
//
// The problem: threads run translated code without a lock while others add, link, invalidate and free it. The simple
// way, to stop all threads for each change, was rejected: programs with a JIT change code all the time, and a thread
// can be in a block that waits for memory (a page fault) for as long as it likes.
//
// The mechanism: whoever changes the cache holds `lock`. Code that other threads may be running changes only by one
// aligned store, so that a CPU sees the old or the new value:
// - A direct exit is a jmp; its rel32 operand lies within eight bytes. It leads to the exit's stub, which exits to the
//   engine; once the target is translated, link() makes it lead there. The list Block::incoming has all linked exits.
// - An indirect branch jumps through a table of 65,536 words, by the low 16 bits of its target. A word leads to the
//   indirect entry of a block (x86_64/translate/indirect_entry.h), which compares the whole target and on a mismatch
//   goes on to the next entry of the same word, at last to the lookup miss, an exit to the engine.
// - remove() makes a block dead: nothing leads to it any more, and its own exits lead to their stubs. So a thread that
//   is in it finishes it and comes back to the engine. Its memory stays: from a dead block, too, the application's
//   registers can be recovered if a fault or signal finds a thread there.
// - A block is removed when its code changes (memory/protected_code.h), when its pages go, and when it lacks a class or
//   instrumentation that is wanted now. Code that can change unseen (shared mappings) is kept as a copy, compared at
//   each entry; such a block is never linked and has no indirect entry, so that each entry comes from the engine.
// - Memory is freed all at once, by a flush (thread_list.h) when is_full(): all blocks are removed, `flushing` is set,
//   and the flusher waits, with the lock held, until no thread has Thread::in_cache set. Then free_all() empties the
//   arenas and begins a new `generation`.
//
// The two edges:
// - Entering: set_next_block() sets Thread::in_cache under the lock, so a flush waits for the thread, or is over.
// - Exiting: the thread copies what it needs of its exit (dispatch.cpp, BlockExit) before it clears Thread::in_cache;
//   afterwards a flush may happen, and numbers of blocks and exits are valid only if `generation` is unchanged.
// A thread that does not leave its block (a userfaultfd page, a long REP) is sent a signal that stops it. One that
// faults on protected code while the flusher holds the lock leaves first and repeats the write (signals/handler.cpp).
//
// What it can't do: free a single block. Dead blocks take memory until the next flush.
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cache/arena.h"
#include "engine/cache/block.h"
#include "engine/cache/fixed_places.h"
#include "engine/cache/page_index.h"
#include "engine/cache/pool.h"
#include "engine/cache/recorded_segment.h"
#include "engine/freestanding/lock.h"
#include "engine/memory/executable_map.h"
#include "engine/x86_64/decode/isa.h"

namespace anyperf::engine {

/// Everything here is under `lock`, except where a member says otherwise.
class Cache {
  public:
    static constexpr std::uint32_t kMaximumArenas = 64;
    static constexpr std::uint32_t kMaximumBlocks = 1u << 22;
    static constexpr std::uint32_t kNeverPaired = ~std::uint32_t{0};  ///< of pair_returns_from
    static constexpr std::size_t kTableEntries = 65536;  ///< by the low 16 bits of an application address, one movzx

    /// Reserves address space for the records; false if the kernel refuses.
    bool reserve();
    /// Reserves address space for `recorded_segments` and `recorded_accesses`, which most processes never need; false
    /// if the kernel refuses.
    bool reserve_recordings();

    /// The live block that starts at `pc` and was made with `limit`; null if the cache has no such block.
    Block* find(std::uint64_t pc, std::uint16_t limit = 0);
    /// Prefetches what find() will read: the hash table of a large program is in no CPU cache.
    void prefetch(std::uint64_t pc) const { __builtin_prefetch(slots_ + first_line(hash(pc, 0)) * kSlotsInLine); }
    /// Adds a new block, so that find() returns it. False if memory ran out; then it is not added.
    bool add(Block& block);
    BlockId id_of(const Block& block) { return blocks.number_of(block); }

    /// The rel32 operand of an exit that can be linked.
    std::uint8_t* operand_of(const Exit& exit) { return blocks[exit.from].host + exit.operand; }
    /// The exit's stub, where the operand leads while it is not linked.
    const std::uint8_t* stub_of(const Exit& exit) { return operand_of(exit) + exit.stub; }
    /// Links the exit to `block`, unless one of the two is dead or may not be linked, or the other is out of reach.
    void link(ExitId exit, Block& block);
    /// The record of an indirect entry for `pc`, without its code; 0 if there is no room. The translator writes the
    /// code (x86_64/translate/indirect_entry.h), with the number in the four bytes before it.
    IndirectEntryId new_indirect_entry(std::uint64_t pc);
    /// Puts the entry into the table: from now on indirect branches reach it.
    void add_to_table(IndirectEntryId id);
    /// Adds a new trace, in the place of the block at its address.
    bool add_trace(Block& trace);
    /// Keeps a copy of what the block was translated from, for is_stale(). Such a block is entered only from the
    /// engine: it is never linked and has no indirect entry. False if there is no room for the copy.
    bool keep_code_copy(Block& block, const std::uint8_t* code);
    /// Whether the block has a copy of its code and the code differs from it now. It reads the code, so call it in a
    /// guarded_run().
    static bool is_stale(const Block& block);
    /// Makes the block dead: nothing leads to it any more. A thread that is in it finishes it.
    void remove(Block& block);
    /// Removes every block with code in [start, end).
    void remove_range(std::uint64_t start, std::uint64_t end);
    /// Removes every block.
    void remove_all();
    /// Frees the memory of all blocks and begins a new generation. Precondition: all are removed, and no thread is in
    /// one or refers to one.
    void free_all();

    /// Bytes of memory that translations and their records take.
    std::size_t bytes() const;
    /// Pages of them that have been touched since the start of the program, about: what they have cost in page faults.
    std::size_t touched_pages() const;
    /// Whether translations and records take more than byte_limit. Without a limit: whether they take more than 24 MiB
    /// plus eight times the live code, and more than half of the code that was translated is dead. Also once a program
    /// is so large that its returns are to be paired from now on.
    bool is_full() const;

    /// An arena with room for a block, within reach of `pc` if possible; a new one is empty. Null if memory ran out.
    /// Translate in the one that prepared_arena() returns (x86_64/translate/routines.h).
    Arena* arena_for(std::uint64_t pc);

    /// The block, live or dead, that has a host address in its hot code; null for stubs, indirect entries and routines.
    /// The signal handler calls it without the lock: while its thread is in a block, blocks are only appended.
    Block* block_at_host(std::uint64_t host);
    /// The address at which to write what is executed at `host`, which is in an arena.
    std::uint8_t* writable(std::uint8_t* host) const;
    /// Whether an arena has separate writes (code_memory.h).
    bool has_separate_writes() const;
    /// Before a fork: copies these arenas. False if the kernel refuses. Then, as after the fork in the parent,
    /// drop_copies() must be called. In the child: take_copies(), false if it failed.
    bool begin_copies();
    void drop_copies();
    bool take_copies();
    /// Whether a host address is in an arena.
    bool is_translated_code(std::uint64_t host) const;
    /// The host address in a block's hot code that has these low 32 bits; 0 if no block has one.
    std::uint64_t host_with_low_half(std::uint32_t low);

    /// The table of host addresses that indirect branches jump through; below 2 GiB, so that an instruction can name
    /// it.
    std::uint64_t* indirect_table() const { return table_; }
    /// Where an indirect branch goes if its target has no indirect entry: a routine that exits to the engine.
    std::uint64_t lookup_miss() const { return lookup_miss_; }
    /// Sets the lookup miss and fills the table with it. Precondition: no entry is in the table.
    void set_lookup_miss(std::uint64_t host);

    Lock lock;
    x86_64::PresentedIsa presented;  ///< which instructions programs have; set before the first one
    bool deterministic = false;      ///< rdrand, rdseed, rdtsc, rdtscp and rdpid are emulated; set before the first one
    bool entries_use_loop = false;  ///< indirect entries compare by `loop` (indirect_entry.h); set before the first one
    bool separate_writes = false;   ///< code is written by other addresses (code_memory.h); set before the first one
    /// Once there are so many blocks, is_full() has the cache emptied, and from then on returns are paired with the
    /// host's (x86_64/translate/returns.cpp). Set before the first one.
    std::uint32_t pair_returns_from = kNeverPaired;
    bool pairs_returns = false;  ///< they are; changed by free_all() only
    /// Once there are so many blocks, a process that has run for long begins to pair returns (block_at.cpp).
    std::uint32_t pairs_late = kNeverPaired;
    /// What each execution of a block that may become a trace's head adds to a word of 16 bits
    /// (x86_64/traces/trace.cpp); 0: there are no traces. Set before the first block.
    std::int8_t heat = 0;
    /// Blocks charge the steps of their thread's turn (turns/turn_length.h). Once set it stays so.
    bool charges_steps = false;
    bool flushing = false;         ///< the holder of the lock waits until no thread is in translated code; atomic
    std::uint32_t generation = 0;  ///< increased by free_all(), after which numbers of blocks and exits are used again
    std::size_t byte_limit = 0;    ///< set by the user; 0: is_full() decides by the size of the code
    std::uint64_t live_code_bytes = 0;        ///< of application code, in live blocks
    std::uint64_t translated_code_bytes = 0;  ///< the same with the blocks that died since the last flush
    Pool<Block, kMaximumBlocks> blocks;
    Pool<Exit, 1u << 23> exits;
    Pool<std::uint8_t, 1u << 27> marks;  ///< packed (packed_marks.h), with the pieces of traces
    Pool<IndirectEntry, 1u << 22> indirect_entries;
    Pool<std::uint8_t, 1u << 26> copies;  ///< of code, for is_stale()
    Pool<RecordedSegment, 1u << 23> recorded_segments;
    Pool<RecordedAccess, 1u << 24> recorded_accesses;
    /// Where code that replays records (modelling/replay_code.h) goes for a segment without such code; 0: there is
    /// none.
    std::uint64_t leave_replay = 0;
    ExecutableMap executable;  ///< what the application may execute
    FixedPlaces fixed_places;  ///< of code, for the models of branch predictors; written at the start only
    Arena arenas[kMaximumArenas];
    std::uint32_t arena_count = 0;

  private:
    /// An entry of the hash table of blocks. It has the whole hash, so that records are read only for a likely match.
    struct Slot {
        BlockId id = 0;
        std::uint32_t hash = 0;
    };

    bool reserve_records(unsigned smaller);
    bool grow();
    bool insert(BlockId id);
    void put(const Slot& slot);
    void remove_from_table(IndirectEntryId id);
    IndirectEntryId entry_in_table(std::size_t slot) const;
    void remove_in_page(std::uint64_t page, std::uint64_t start, std::uint64_t end);
    void remove_by_scan(std::uint64_t start, std::uint64_t end);
    void remove_traces(std::uint64_t start, std::uint64_t end);
    void set_table(std::size_t slot, std::uint64_t host) { __atomic_store_n(&table_[slot], host, __ATOMIC_RELEASE); }
    void patch(std::uint8_t* operand, const std::uint8_t* target);
    void set_on_mismatch(const IndirectEntry& entry, std::uint64_t host);
    void unlink(Block& block);
    bool passes_heat(const Exit& exit, const Block& to);
    const std::uint8_t* entry_of(const Exit& exit, const Block& to);
    void close_pad(const Block& block, const Exit& pad);
    bool erase(const Block& block);
    /// The place in its page, and 20 bits of a hash of the page and the limit.
    static std::uint32_t hash(std::uint64_t pc, std::uint16_t limit) {
        const std::uint64_t page = (pc >> 12) + (std::uint64_t{limit} << 48);
        return static_cast<std::uint32_t>(page * 0x9e3779b97f4a7c15u >> 44 << 12 | (pc & 0xfff));
    }
    /// Slots are searched line by line. The blocks of a page begin in lines near each other, as they are looked up, so
    /// that the slots of the next ones are in the CPU's caches and its TLB. A full line is followed by one far away:
    /// code has places with many blocks, which would fill all lines around.
    static constexpr std::size_t kSlotsInLine = 8;
    std::size_t first_line(std::uint32_t hash) const {
        constexpr unsigned kCodeOfLine = 6;  // 64 bytes of code mostly have less than eight blocks
        return ((hash >> 12) * 0x9e3779b1u + ((hash & 0xfff) >> kCodeOfLine)) & (slot_count_ / kSlotsInLine - 1);
    }
    /// The first slot in the order of the search for `hash` that `ends` it.
    template <class Ends>
    Slot& search(std::uint32_t hash, const Ends& ends) const {
        const std::size_t lines = slot_count_ / kSlotsInLine;
        const std::size_t step = (hash * 0x85ebca6bu >> 16) | 1;  // odd: it comes to all lines
        for (std::size_t line = first_line(hash);; line = (line + step) & (lines - 1))
            for (Slot* slot = slots_ + line * kSlotsInLine; slot != slots_ + (line + 1) * kSlotsInLine; ++slot)
                if (ends(*slot)) return *slot;
    }

    /// A trace and the range that its pieces are in. The list of a page has only the blocks that begin there.
    struct Trace {
        BlockId block;
        std::uint64_t start;
        std::uint64_t end;
    };
    Pool<Trace, 1u << 20> traces_;
    PageIndex pages_;
    OwnArea growth_;  ///< for records, and for larger tables of slots
    TableArea tables_;
    Slot* slots_ = nullptr;  ///< open addressing, by search()
    std::size_t slot_count_ = 0;
    std::size_t filled_ = 0;  ///< slots that are used or erased
    std::uint64_t* table_ = nullptr;
    std::uint64_t lookup_miss_ = 0;
    std::uint64_t full_neighbourhood_ = ~std::uint64_t{0};  ///< the last GiB near which no arena could be mapped
};

}  // namespace anyperf::engine

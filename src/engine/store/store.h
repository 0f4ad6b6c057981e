// store.h: translations that outlive their process.
//
// PROBLEM. A short program spends most of its time in translating what the last one has translated, too: the dynamic
// linker, the C library, itself.
//
// REJECTED. Translated code at fixed addresses, mapped as it is: it would be the fastest, but programs lie elsewhere
// each time, and the code refers to records by number and to words of counters that differ from process to process. A
// service that translates for all: a program could have code of its choice run in another one.
//
// MECHANISM. Each executable mapping of a file (StoredMapping) has a file of translations in the user's directory,
// found by what the file is (stat(2)) and by how it is translated (run::StoredCodeKey). When a block is wanted, its
// record is looked up, copied into the cache and given the numbers and addresses of this process (load_block.h); with
// it come the blocks that it was linked to. What is not there is translated, and the translator notes how to relocate
// it (x86_64/translate/relocations.h). When the process ends, what is new is added to the file (save()).
//
// EXACTNESS. A stored block is the translation that this process would make, as long as three things are equal: the
// code, what is counted, the translator. The last two are in the key. The code is compared: a record names the ranges
// of code that its translation was made from, also those that were read to find out whether flags are dead, with a
// checksum, and is used only if memory has the same whenever it is loaded. So neither a file that was written in place
// nor a clock that was set back can matter, nor a breakpoint of a debugger. Whole pages, each read once, cost 4 % more.
//
// RACES. All is under Cache::lock. Another process may replace the file at any time: a mapping keeps the old one. One
// that truncates it makes reads fault, which ends the use of the file (drop_faulted()).
//
// The store's memory is an area of its own near an arena (own_area.h), so the addresses of the program's mappings do
// not depend on what is stored.
//
// LIMITS. Not stored, and not loaded: code of memory that is shared, writable, or not of a file; blocks with a limit;
// code with breakpoints, watched memory, recorded branches, models, exact counts or words for rdpmc. Where a file that
// is executed has been opened for writing, its code is compared when it is entered, and not stored any more
// (syscalls/file_writes.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/cache/cache.h"
#include "engine/store/new_blocks.h"
#include "engine/store/new_file.h"
#include "engine/store/stored_file.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine {

/// An executable mapping of a file.
struct StoredMapping {
    run::StoredCodeKey key;  ///< complete once it has been opened
    std::uint64_t start = 0;
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;  ///< in the file, of `start`
    bool opened = false;       ///< `file` has been looked for
    StoredFile file;
    std::span<const std::uint8_t> file_bytes;
    std::uint32_t new_blocks = 0;
    char path[256] = {};  ///< of the translated file, once save() has looked for it; the end of it if it does not fit

    std::uint64_t place_of(std::uint64_t pc) const { return pc - start + offset; }
};

/// Of a process. In memory that begins as zeros.
class Store {
  public:
    static constexpr std::uint32_t kMostMappings = 512;

    /// From here on translations are stored in `directory`, an absolute path that stays; empty: nowhere. The store's
    /// memory is near `arena`. `cache`: what its translations see of the CPU.
    void begin(const char* directory, std::uint32_t cpu, const Cache& cache, const Arena& arena);
    bool on() const { return directory_ != nullptr; }

    /// Notes a private mapping that nobody may write, of the file `fd`. Returns its number for ExecutableRange::stored;
    /// 0: it has none. Needs no lock: the caller is the only thread, or holds it.
    std::uint32_t add_mapping(int fd, std::uint64_t start, std::uint64_t bytes, std::uint64_t offset);

    /// Whether blocks of `range` may be stored as they are made now.
    bool covers(const ExecutableRange& range, const x86_64::Counting& counting,
                const ProcessInstrumentation& instrumentation) const;

    /// The stored block for `pc`, in the cache's table; null if there is none. Precondition: covers(), and the cache
    /// has no block there. May fault while it reads. `may_open`: files may be opened for it.
    Block* load(Cache& cache, x86_64::TupleTable& tuples, const x86_64::Counting& counting,
                const ExecutableRange& range, std::uint64_t pc, Entries entries, bool may_open);

    /// For the translator, if the block is to be stored: then note() it.
    x86_64::Relocations& relocations() { return relocations_; }
    void note(Cache& cache, const x86_64::Counting& counting, const ExecutableRange& range, const Block& block);

    /// A read at `address` has faulted. True if that was in a file of the store, which is not read any more then.
    bool drop_faulted(std::uint64_t address);

    /// Whether so much is new that it may be worth writing it.
    bool has_news(const Cache& cache) const;
    /// Writes what is new to the directory, if it is enough to be worth that.
    void save(Cache& cache);
    /// The process is a fork's child: its parent saves what it has translated so far.
    void forget_new_blocks();

    /// Pages of its memory that have been touched so far, about.
    std::size_t touched_pages() const;

  private:
    /// The key of the files that belong to what is loaded and noted now.
    void set_flavour(run::StoredCodeKey& key) const;
    void open(StoredMapping& mapping);
    static void close(StoredMapping& mapping);
    void follow_flavour(const Cache& cache, const x86_64::Counting& counting);
    static bool is_in_mapping(const Cache& cache, const ExecutableRange& range, std::uint64_t start, std::uint64_t end);
    static bool is_unchanged(const Cache& cache, const ExecutableRange& range, const StoredBlock& stored,
                             std::uint64_t pc);
    /// A block that has been loaded, and its record.
    struct Loaded {
        Block* block;
        StoredBlock stored;
    };
    /// What is to be loaded next. The number is limited, since some of it may not be wanted after all.
    struct Wanted {
        static constexpr std::size_t kMost = 64;
        struct Successor {
            std::uint64_t target;
            ExitId exit;           ///< leads there; 0: none
            std::uint32_t record;  ///< place of the block's record; 0 before look_up(), and if there is nothing to load
            Block* block;          ///< the block, if the cache had it at look_up()
        };
        Successor successor[kMost];
        std::size_t count = 0;

        bool add(const Successor& more) {
            if (count == kMost) return false;
            successor[count++] = more;
            return true;
        }
    };
    /// The blocks that were loaded last.
    class Latest {
      public:
        /// More than are loaded between the lookup of a successor and its use.
        static constexpr std::size_t kMost = 4;

        void add(Block& block) { block_[count_++ % kMost] = &block; }
        Block* find(std::uint64_t pc) const {
            for (Block* const block : block_)
                if (block != nullptr && block->pc == pc) return block;
            return nullptr;
        }

      private:
        Block* block_[kMost] = {};
        std::size_t count_ = 0;
    };
    static void add_successors(const Cache& cache, const Loaded& loaded, Wanted& wanted);
    static void look_up(Cache& cache, const StoredMapping& mapping, const ExecutableRange& range,
                        Wanted::Successor& successor);
    bool load_one(Cache& cache, x86_64::TupleTable& tuples, const ExecutableRange& range, std::uint64_t pc,
                  std::uint32_t record, Entries entries, Loaded& loaded);
    void find_paths();
    void save(Cache& cache, std::uint32_t number);
    NewFile::Sizes sizes_of_new(Cache& cache, std::uint32_t number, const StoredFile& old, std::size_t old_bytes,
                                std::uint32_t& fresh);
    bool is_worth_storing(Cache& cache, const NewBlock& noted, const StoredFile& old);
    static void copy_old(NewFile& file, const StoredFile& old);
    void store_block(NewFile& file, Cache& cache, const NewBlock& noted);

    const char* directory_ = nullptr;
    run::StoredCodeKey flavour_{};  ///< of what is loaded and noted now; without the file
    std::uint32_t generation_ = 0;  ///< Cache::generation of the new blocks
    StoredMapping* mappings_ = nullptr;
    std::uint32_t mapping_count_ = 0;
    OwnArea area_;
    NewBlocks new_blocks_;
    x86_64::Relocations relocations_;
};

}  // namespace anyperf::engine

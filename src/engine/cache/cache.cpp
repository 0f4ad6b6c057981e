// cache.cpp: see cache.h for the life of a block. Each function below is called with Cache::lock held unless its
// comment says otherwise. Records refer to each other by number, not by pointer: a number has half the size, and 0
// means none.
#include "engine/cache/cache.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <initializer_list>

#include "engine/cache/packed_marks.h"
#include "engine/freestanding/pages.h"

namespace anyperf::engine {

namespace {

/// The number of slots that the hash table starts with. It is always a power of two: an index is the hash's low bits.
constexpr std::size_t kFirstSlots = 4096;
constexpr BlockId kErased = ~BlockId{0};  // in a hash slot: a search continues after it

/// How many times to halve the room for records, which takes about a gigabyte of address space. If the address space is
/// limited (setrlimit(2), RLIMIT_AS and RLIMIT_DATA), most of it is left to the program.
unsigned scarcity() {
    constexpr std::uint64_t kAllRecords = std::uint64_t{1} << 30;
    constexpr std::uint64_t kShare = 16;
    constexpr unsigned kMost = 8;
    unsigned halved = 0;
    for (const unsigned resource : {RLIMIT_AS, RLIMIT_DATA}) {
        struct {
            std::uint64_t soft, hard;
        } limit{};
        if (is_error(kernel_call(__NR_prlimit64, 0, resource, 0, address_of(&limit)))) continue;
        while (halved < kMost && kAllRecords >> halved > limit.soft / kShare) ++halved;
    }
    return halved;
}

/// Maps the table of indirect entries in one large page, all of which is touched at once: where a hypervisor handles
/// the first access to each page, 128 small ones take 0.9 ms. Null if the kernel refuses.
std::uint64_t* map_table(std::size_t bytes) {
    // MAP_32BIT: an indirect branch has the table's address as a disp32, which is sign-extended, so the table must be
    // below 2 GiB.
    const long low = map_own_pages(2 * kLargePageBytes - kPageBytes, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT);
    if (is_error(low)) return nullptr;
    const std::uint64_t start = large_page_up(static_cast<std::uint64_t>(low));
    prefer_large_pages(start, start + kLargePageBytes);
    touch_pages(at_address<void>(start), bytes);
    return at_address<std::uint64_t>(start);
}

/// How many pages of this memory are in the page tables (mincore(2)).
std::size_t present_pages(const void* memory, std::size_t bytes) {
    constexpr std::size_t kAtOnce = 256;
    std::size_t present = 0;
    for (std::uint64_t at = address_of(memory), end = at + page_up(bytes); at < end; at += kAtOnce * kPageBytes) {
        std::uint8_t pages[kAtOnce] = {};
        const std::uint64_t length = end - at < kAtOnce * kPageBytes ? end - at : kAtOnce * kPageBytes;
        kernel_call(__NR_mincore, at, length, address_of(pages));
        for (const std::uint8_t page : pages) present += page & 1;
    }
    return present;
}

bool within_rel32(const std::uint8_t* from, const std::uint8_t* to) {
    const std::int64_t distance = to - from;
    return distance == static_cast<std::int32_t>(distance);
}

}  // namespace

bool Cache::reserve() {
    const unsigned smaller = scarcity();
    // Each table is twice as large as the one before it, so all together are less than twice the largest.
    const std::size_t most_slots = std::size_t{2} * kMaximumBlocks >> smaller;
    const std::size_t most_pages = std::size_t{kMaximumBlocks} / 4 >> smaller;
    const std::size_t tables = sizeof(Slot) * 2 * most_slots + PageIndex::bytes_for(most_pages);
    const std::size_t records = blocks.bytes_for(smaller) + exits.bytes_for(smaller) + marks.bytes_for(smaller) +
                                indirect_entries.bytes_for(smaller) + copies.bytes_for(smaller) +
                                traces_.bytes_for(smaller);
    if (!growth_.reserve(tables + records)) return false;
    constexpr std::size_t kTableBytes = sizeof(std::uint64_t) * kTableEntries;
    table_ = map_table(kTableBytes);
    if (table_ == nullptr) return false;
    // Without a large page each page beside the table would cost a fault.
    const std::uint64_t end = address_of(table_) + kLargePageBytes;
    const bool is_large = present_pages(at_address<void>(end - kPageBytes), kPageBytes) != 0;
    tables_.begin(address_of(table_) + kTableBytes, is_large ? kLargePageBytes - kTableBytes : 0, growth_);
    slots_ = static_cast<Slot*>(tables_.take(sizeof(Slot) * kFirstSlots));
    slot_count_ = kFirstSlots;
    return slots_ != nullptr && pages_.reserve(tables_) && reserve_records(smaller);
}

// The numbers are those of a program with 6,144 blocks, and leave half a MiB beside the table for hash tables.
bool Cache::reserve_records(unsigned smaller) {
    constexpr std::uint32_t kBlocks = 6144;
    return blocks.reserve<kBlocks>(growth_, tables_, smaller) &&
           exits.reserve<kBlocks * 5 / 2>(growth_, tables_, smaller) &&
           marks.reserve<kBlocks * 16>(growth_, tables_, smaller) &&
           indirect_entries.reserve<kBlocks / 2>(growth_, tables_, smaller) && copies.reserve(growth_, smaller) &&
           traces_.reserve(growth_, smaller) && executable.reserve();
}

bool Cache::reserve_recordings() {
    const unsigned smaller = scarcity();
    return recorded_segments.reserve(smaller) && recorded_accesses.reserve(smaller);
}

std::size_t Cache::touched_pages() const {
    std::size_t pages = 0;
    for (std::uint32_t i = 0; i < arena_count; ++i) pages += arenas[i].touched_pages();
    for (const std::size_t records :
         {blocks.touched_pages(), exits.touched_pages(), marks.touched_pages(), indirect_entries.touched_pages(),
          copies.touched_pages(), pages_.touched_pages(), traces_.touched_pages(), recorded_segments.touched_pages(),
          recorded_accesses.touched_pages()})
        pages += records;
    // Slots are touched in no order, so only the kernel knows.
    return pages + (tables_.is_beside(slots_) ? 0 : present_pages(slots_, sizeof(Slot) * slot_count_));
}

void Cache::set_lookup_miss(std::uint64_t host) {
    lookup_miss_ = host;
    for (std::size_t i = 0; i < kTableEntries; ++i) __atomic_store_n(&table_[i], host, __ATOMIC_RELAXED);
}

// A slot has the whole hash, so a search reads a block's record only if it is almost certainly the right one. The table
// is never more than three quarters full, so each search ends at a free slot.
Block* Cache::find(std::uint64_t pc, std::uint16_t limit) {
    const std::uint32_t wanted = hash(pc, limit);
    const Slot& found = search(wanted, [&](const Slot& slot) {
        if (slot.id == 0) return true;
        if (slot.hash != wanted || slot.id == kErased) return false;
        const Block& block = blocks[slot.id];
        return block.pc == pc && block.limit == limit;
    });
    return found.id == 0 ? nullptr : &blocks[found.id];
}

// Erased slots are not copied: they only made searches continue.
bool Cache::grow() {
    Slot* const old = slots_;
    const std::size_t old_count = slot_count_;
    auto* const wider = static_cast<Slot*>(tables_.take(sizeof(Slot) * old_count * 2));
    if (wider == nullptr) return false;
    slots_ = wider;
    slot_count_ = old_count * 2;
    filled_ = 0;
    for (std::size_t i = 0; i < old_count; ++i)
        if (old[i].id != 0 && old[i].id != kErased) put(old[i]);
    tables_.drop(old, sizeof(Slot) * old_count);
    return true;
}

// An erased slot is used again, which does not change filled_: it was counted when it was first used.
void Cache::put(const Slot& slot) {
    Slot& place = search(slot.hash, [](const Slot& other) { return other.id == 0 || other.id == kErased; });
    if (place.id == 0) ++filled_;
    place = slot;
}

bool Cache::insert(BlockId id) {
    // Erased slots count as filled, because they make searches as long as filled ones do.
    if ((filled_ + 1) * 4 > slot_count_ * 3 && !grow()) return false;
    put({id, hash(blocks[id].pc, blocks[id].limit)});
    return true;
}

bool Cache::add_trace(Block& trace) {
    const std::uint32_t number = traces_.allocate();
    if (number == 0) return false;
    Trace& range = traces_[number];
    range = {id_of(trace), trace.pc, trace.pc};
    std::uint64_t pc = trace.pc;
    const Marks all{trace};
    for (std::size_t i = 0; i < trace.instructions; pc = all.address_after(i++, pc)) {
        range.start = std::min(range.start, pc);
        range.end = std::max(range.end, pc + all[i].guest_length);
    }
    Block* const before = find(trace.pc);
    const bool entered_indirectly = before != nullptr && before->indirect_entry != 0;
    if (before != nullptr) remove(*before);
    if (!add(trace)) return false;
    if (entered_indirectly && trace.indirect_entry != 0) add_to_table(trace.indirect_entry);
    for (ExitId id = trace.first_exit; id < trace.first_exit + trace.exits; ++id)
        if (exits[id].is_loop()) link(id, trace);
    return true;
}

bool Cache::add(Block& block) {
    const BlockId id = id_of(block);
    if (!insert(id)) return false;
    live_code_bytes += block.guest_bytes;
    translated_code_bytes += block.guest_bytes;
    // A block that is in no page's list would survive a change of its code, so it cannot be used.
    BlockId* const head = pages_.find_or_add(block.pc);
    if (head == nullptr) {
        remove(block);
        return false;
    }
    block.next_in_page = *head;
    *head = id;
    return true;
}

/// Removes the block from the hash table. False if the table does not have it.
bool Cache::erase(const Block& block) {
    const BlockId id = id_of(block);
    Slot& place = search(hash(block.pc, block.limit), [id](const Slot& slot) { return slot.id == id || slot.id == 0; });
    if (place.id == 0) return false;
    place.id = kErased;
    return true;
}

/// Writes a rel32 that other threads may be executing. It does not cross an 8-byte boundary, so a CPU sees the old or
/// the new one (SDM volume 3, 8.1.1 "Guaranteed Atomic Operations").
void Cache::patch(std::uint8_t* operand, const std::uint8_t* target) {
    const auto relative = static_cast<std::int32_t>(target - (operand + 4));
    __atomic_store_n(reinterpret_cast<std::int32_t*>(writable(operand)), relative, __ATOMIC_RELEASE);
}

// The list of incoming exits changes before the operand: only the holder of the lock reads the list, but any thread may
// run the jump at once. After a block of a single instruction, for example, the engine decides what follows.
void Cache::link(ExitId id, Block& block) {
    Exit& exit = exits[id];
    if (exit.operand == 0 || exit.to != 0 || block.dead || block.code != nullptr || blocks[exit.from].dead) return;
    if (blocks[exit.from].limit >= kTurnEnd) return;
    const std::uint8_t* const entry = entry_of(exit, block);
    if (entry == nullptr) return;
    if (!within_rel32(operand_of(exit) + 4, block.host))
        return;  // in another arena: the exit stays with its stub, which leads to the engine
    exit.to = id_of(block);
    exit.next_incoming = block.incoming;
    block.incoming = id;
    patch(operand_of(exit), entry);
}

/// Where the exit enters the block; null: the block has no code for such an exit.
const std::uint8_t* Cache::entry_of(const Exit& exit, const Block& to) {
    if (exit.is_loop()) return to.host + kHistoryBytes;
    if (charges_steps && exit.steps != 0) return to.has_step_entry != 0 ? to.step_entry() : nullptr;
    return passes_heat(exit, to) ? to.host + kHeatBytes : to.host;
}

/// Whether the exit leads past the code that counts the block's executions. Only branches that go back to another block
/// are counted, indirect ones and exits of traces: a loop has one, and a loop of one block would gain nothing as a
/// trace.
bool Cache::passes_heat(const Exit& exit, const Block& to) {
    if (!to.counts_executions || heat < 0) return false;
    const Block& from = blocks[exit.from];
    return !from.trace && (&from == &to || to.pc >= from.pc + from.guest_bytes);
}

/// Makes all exits that lead to the block lead to their stubs again. A thread that still sees an old operand enters the
/// block, which stays executable until a flush, and leaves it by one of its exits.
void Cache::unlink(Block& block) {
    for (ExitId id = block.incoming; id != 0;) {
        Exit& exit = exits[id];
        patch(operand_of(exit), stub_of(exit));
        exit.to = 0;
        id = exit.next_incoming;
        exit.next_incoming = 0;
    }
    block.incoming = 0;
}

/// Makes the pad match no return address: no address has these upper bits.
void Cache::close_pad(const Block& block, const Exit& pad) {
    constexpr std::uint64_t kMatchesNone = std::uint64_t{1} << 62;
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(writable(block.host + pad.stub)), kMatchesNone, __ATOMIC_RELEASE);
}

void Cache::remove(Block& block) {
    if (block.dead) return;
    unlink(block);
    if (erase(block)) live_code_bytes -= block.guest_bytes;
    remove_from_table(block.indirect_entry);
    block.dead = true;
    // The block's own exits lead to the engine again, so that a thread in the block returns when it has finished the
    // block. They are also removed from the lists of their targets.
    for (ExitId id = block.first_exit; id < block.first_exit + block.exits; ++id) {
        Exit& exit = exits[id];
        if (exit.is_pad()) close_pad(block, exit);
        if (exit.to == 0) continue;
        // An Exit has no link to its predecessor in the list, to be small, so the predecessor is searched for.
        ExitId* place = &blocks[exit.to].incoming;
        while (*place != 0 && *place != id) place = &exits[*place].next_incoming;
        if (*place == id) *place = exit.next_incoming;
        patch(operand_of(exit), stub_of(exit));
        exit.to = 0;
        exit.next_incoming = 0;
    }
}

namespace {

/// Whether the code that the block was translated from has a byte in [start, end).
bool overlaps(const Block& block, std::uint64_t start, std::uint64_t end) {
    if (!block.trace) return block.pc < end && block.pc + block.guest_bytes > start;
    std::uint64_t pc = block.pc;
    const Marks marks{block};
    for (std::size_t i = 0; i < block.instructions; pc = marks.address_after(i++, pc))
        if (pc < end && pc + marks[i].guest_length > start) return true;
    return false;
}

}  // namespace

/// Removes the blocks that begin in a page and overlap the range, and all dead blocks from the page's list.
void Cache::remove_in_page(std::uint64_t page, std::uint64_t start, std::uint64_t end) {
    BlockId* place = pages_.find(page);
    while (place != nullptr && *place != 0) {
        Block& block = blocks[*place];
        if (!block.dead && overlaps(block, start, end)) remove(block);
        if (block.dead)
            *place = block.next_in_page;
        else
            place = &block.next_in_page;
    }
}

// Block numbers begin at 1.
void Cache::remove_by_scan(std::uint64_t start, std::uint64_t end) {
    for (BlockId id = 1; id <= blocks.used(); ++id)
        if (!blocks[id].dead && overlaps(blocks[id], start, end)) remove(blocks[id]);
}

// Blocks are listed by the page in which they begin. If the range has more pages than there are lists, as for a munmap
// of gigabytes, a pass over all blocks is faster.
void Cache::remove_range(std::uint64_t start, std::uint64_t end) {
    static_assert(kLongestBlockBytes <= kPageBytes);
    const std::uint64_t first =
        start < kPageBytes ? 0 : page_down(start - kPageBytes);  // a block may begin in the page before and reach in
    if ((end - first) / kPageBytes > pages_.pages()) return remove_by_scan(start, end);
    for (std::uint64_t page = first; page < end; page += kPageBytes) remove_in_page(page, start, end);
    remove_traces(start, end);
}

void Cache::remove_traces(std::uint64_t start, std::uint64_t end) {
    for (std::uint32_t i = 1; i <= traces_.used(); ++i) {
        const Trace& trace = traces_[i];
        if (trace.start < end && trace.end > start && !blocks[trace.block].dead &&
            overlaps(blocks[trace.block], start, end))
            remove(blocks[trace.block]);
    }
}

void Cache::remove_all() {
    remove_by_scan(0, ~std::uint64_t{0});
}

// The discarded pages read as zeros again, and a table of zeros is empty. A thread that was outside of translated code
// meanwhile notices by `generation` that the numbers of blocks and exits that it has are not valid any more.
void Cache::free_all() {
    pairs_returns = pairs_returns || blocks.used() >= pair_returns_from;
    for (std::uint32_t i = 0; i < arena_count; ++i) arenas[i].free_all();
    blocks.free_all();
    exits.free_all();
    marks.free_all();
    indirect_entries.free_all();
    copies.free_all();
    traces_.free_all();
    if (recorded_segments.used() != 0) {
        recorded_segments.free_all();
        recorded_accesses.free_all();
    }
    pages_.clear();
    tables_.clear(slots_, sizeof(Slot) * slot_count_);
    filled_ = 0;
    live_code_bytes = translated_code_bytes = 0;
    ++generation;
}

std::size_t Cache::bytes() const {
    std::size_t sum = blocks.bytes() + exits.bytes() + marks.bytes() + indirect_entries.bytes() + copies.bytes() +
                      traces_.bytes() + recorded_segments.bytes() + recorded_accesses.bytes() + pages_.bytes() +
                      // Twice the filled slots, because about half of the table is filled.
                      sizeof(Slot) * 2 * filled_;
    for (std::uint32_t i = 0; i < arena_count; ++i) sum += arenas[i].bytes();
    return sum;
}

bool Cache::is_full() const {
    if (!pairs_returns && blocks.used() >= pair_returns_from) return true;
    constexpr std::size_t kBase = std::size_t{24} << 20;
    constexpr std::size_t kOfCode = 8;
    if (byte_limit != 0) return blocks.used() != 0 && bytes() > byte_limit;
    // While at least half of the code is live, a flush frees too little: all live code would be translated again.
    return translated_code_bytes > 2 * live_code_bytes && bytes() > kBase + kOfCode * live_code_bytes;
}

IndirectEntryId Cache::new_indirect_entry(std::uint64_t pc) {
    const IndirectEntryId id = indirect_entries.allocate();
    if (id != 0) indirect_entries[id] = {.pc = pc};
    return id;
}

void Cache::set_on_mismatch(const IndirectEntry& entry, std::uint64_t host) {
    auto* const word = reinterpret_cast<std::uint8_t*>(entry.on_mismatch);
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(writable(word)), host, __ATOMIC_RELEASE);
}

/// The entry that a word of the table leads to; 0: none.
IndirectEntryId Cache::entry_in_table(std::size_t slot) const {
    const std::uint64_t host = table_[slot];
    if (host == lookup_miss_) return 0;
    IndirectEntryId id;
    __builtin_memcpy(&id, at_address<const std::uint8_t>(host - sizeof id), sizeof id);
    return id;
}

// The new entry leads to the older ones before the slot leads to the new entry. So a thread that follows the list at
// this moment finds all of the old list, or all of the new one.
void Cache::add_to_table(IndirectEntryId id) {
    IndirectEntry& entry = indirect_entries[id];
    if (entry.in_table) return;
    const std::size_t slot = entry.pc & (kTableEntries - 1);
    // There are two forms of the list: the engine changes it through next_in_slot, and machine code follows it through
    // on_mismatch.
    entry.in_table = true;
    entry.next_in_slot = entry_in_table(slot);
    set_on_mismatch(entry, table_[slot]);
    set_table(slot, address_of(entry.host));
}

/// A thread that is in the removed entry still reaches the next ones, because the entry's on_mismatch stays valid.
void Cache::remove_from_table(IndirectEntryId id) {
    if (id == 0 || !indirect_entries[id].in_table) return;
    IndirectEntry& entry = indirect_entries[id];
    const std::size_t slot = entry.pc & (kTableEntries - 1);
    const std::uint64_t next = __atomic_load_n(entry.on_mismatch, __ATOMIC_RELAXED);
    entry.in_table = false;
    // The list of a slot is short: it has only targets with the same low 16 bits.
    const IndirectEntryId first = entry_in_table(slot);
    if (first == id) return set_table(slot, next);
    IndirectEntry* before = &indirect_entries[first];
    while (before->next_in_slot != id) before = &indirect_entries[before->next_in_slot];
    before->next_in_slot = entry.next_in_slot;
    set_on_mismatch(*before, next);
}

bool Cache::keep_code_copy(Block& block, const std::uint8_t* code) {
    const std::uint32_t first = copies.allocate(block.guest_bytes);
    if (first == 0) return false;
    std::uint8_t* const copy = &copies[first];
    for (std::size_t i = 0; i < block.guest_bytes; ++i) copy[i] = code[i];
    block.code = copy;
    return true;
}

bool Cache::is_stale(const Block& block) {
    const auto* code = at_address<const std::uint8_t>(block.pc);
    for (std::size_t i = 0; block.code != nullptr && i < block.guest_bytes; ++i)
        if (block.code[i] != code[i]) return true;
    return false;
}

// The first choice is an arena within reach of a rel32, then a new arena near the code. The last neighbourhood of 1 GiB
// near which no place was found is not searched again.
Arena* Cache::arena_for(std::uint64_t pc) {
    for (std::uint32_t i = 0; i < arena_count; ++i)
        if (arenas[i].reaches(pc) && arenas[i].has_room()) return &arenas[i];
    const bool may_map = arena_count < kMaximumArenas;
    // The first arena is for the loader and the libraries, of which every program executes some hundred blocks.
    constexpr std::uint64_t kMuchCode = std::uint64_t{1} << 20;
    const bool large = arena_count == 0 || executable.bytes_from(pc) >= kMuchCode;
    constexpr unsigned kNeighbourhood = 30;
    if (may_map && pc >> kNeighbourhood != full_neighbourhood_) {
        if (arenas[arena_count].map_near(pc, separate_writes, large)) return &arenas[arena_count++];
        full_neighbourhood_ = pc >> kNeighbourhood;
    }
    // Some programs reserve gigabytes around their code. Translated code in a far arena uses 64-bit addresses.
    for (std::uint32_t i = arena_count; i-- > 0;)
        if (arenas[i].has_room()) return &arenas[i];
    return may_map && arenas[arena_count].map_anywhere(separate_writes) ? &arenas[arena_count++] : nullptr;
}

std::uint8_t* Cache::writable(std::uint8_t* host) const {
    for (std::uint32_t i = 0; i < arena_count; ++i)
        if (arenas[i].holds(address_of(host))) return host + arenas[i].to_writable();
    return host;
}

bool Cache::has_separate_writes() const {
    return std::any_of(arenas, arenas + arena_count, [](const Arena& arena) { return arena.has_separate_writes(); });
}

bool Cache::begin_copies() {
    for (std::uint32_t i = 0; i < arena_count; ++i)
        if (!arenas[i].begin_copy()) return false;
    return true;
}

void Cache::drop_copies() {
    for (std::uint32_t i = 0; i < arena_count; ++i) arenas[i].drop_copy();
}

bool Cache::take_copies() {
    bool all = true;
    for (std::uint32_t i = 0; i < arena_count; ++i) all = arenas[i].take_copy() && all;
    return all;
}

bool Cache::is_translated_code(std::uint64_t host) const {
    for (std::uint32_t i = 0; i < arena_count; ++i)
        if (arenas[i].holds(host)) return true;
    return false;
}

std::uint64_t Cache::host_with_low_half(std::uint32_t low) {
    for (std::uint32_t i = 0; i < arena_count; ++i)
        if (const std::uint64_t host = arenas[i].address_with_low_half(low);
            host != 0 && block_at_host(host) != nullptr)
            return host;
    return 0;
}

// Also called without the lock, in the signal handler: an arena's list of blocks, in ascending order of their host
// addresses, is only appended to until a flush, and a flush waits for threads in translated code.
Block* Cache::block_at_host(std::uint64_t host) {
    for (std::uint32_t i = 0; i < arena_count; ++i) {
        const Arena& arena = arenas[i];
        if (!arena.holds(host)) continue;
        // Binary search for the last block that begins at or before the address.
        std::size_t low = 0;
        std::size_t high = arena.block_count();
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (address_of(blocks[arena.blocks()[middle]].host) <= host)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == 0) return nullptr;
        Block& block = blocks[arena.blocks()[low - 1]];
        return host < address_of(block.host) + block.host_bytes ? &block : nullptr;
    }
    return nullptr;
}

}  // namespace anyperf::engine

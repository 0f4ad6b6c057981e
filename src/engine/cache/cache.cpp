// cache.cpp: see cache.h.
#include "engine/cache/cache.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <initializer_list>

#include "engine/freestanding/pages.h"
#include "engine/x86_64/landing.h"
#include "engine/x86_64/routines.h"

namespace anyperf::engine {

namespace {

constexpr std::size_t kFirstSlots = 4096;
constexpr std::size_t kLandingRoom = 128;
constexpr BlockId kErased = ~BlockId{0};

/// A rel32 that other threads may be executing. It does not cross 8 bytes, so that the CPU sees the old or the new one
/// (SDM volume 3, 8.1.1 "Guaranteed Atomic Operations").
void patch(std::uint8_t* operand, const std::uint8_t* target) {
    const auto relative = static_cast<std::int32_t>(target - (operand + 4));
    __atomic_store_n(reinterpret_cast<std::int32_t*>(operand), relative, __ATOMIC_RELEASE);
}

/// How many times to halve the room for records, which is a gigabyte of address space, so that a limit on that
/// (setrlimit(2), RLIMIT_AS and RLIMIT_DATA) leaves the program most of it.
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

bool within_rel32(const std::uint8_t* from, const std::uint8_t* to) {
    const std::int64_t distance = to - from;
    return distance == static_cast<std::int32_t>(distance);
}

}  // namespace

bool Cache::reserve() {
    const unsigned smaller = scarcity();
    if (!blocks.reserve(smaller) || !exits.reserve(smaller) || !marks.reserve(smaller) || !landings.reserve(smaller) ||
        !copies.reserve(smaller) || !executable.reserve() || !pages_.reserve())
        return false;
    slots_ = static_cast<Slot*>(reserve_pages(sizeof(Slot) * kFirstSlots));
    slot_count_ = kFirstSlots;
    const long low = map_own_pages(0, sizeof(std::uint64_t) * kTableEntries, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT);
    heads_ = static_cast<LandingId*>(reserve_pages(sizeof(LandingId) * kTableEntries));
    if (slots_ == nullptr || heads_ == nullptr || is_error(low)) return false;
    table_ = at_address<std::uint64_t>(static_cast<std::uint64_t>(low));
    return true;
}

void Cache::fill_table(std::uint64_t host) {
    table_default_ = host;
    for (std::size_t i = 0; i < kTableEntries; ++i) __atomic_store_n(&table_[i], host, __ATOMIC_RELAXED);
}

Block* Cache::find(std::uint64_t pc, std::uint16_t limit) {
    const std::uint32_t wanted = hash(pc, limit);
    for (std::size_t at = wanted & (slot_count_ - 1);; at = (at + 1) & (slot_count_ - 1)) {
        const Slot slot = slots_[at];
        if (slot.id == 0) return nullptr;
        if (slot.hash != wanted || slot.id == kErased) continue;
        if (Block& block = blocks[slot.id]; block.pc == pc && block.limit == limit) return &block;
    }
}

bool Cache::grow() {
    Slot* const old = slots_;
    const std::size_t old_count = slot_count_;
    auto* const wider = static_cast<Slot*>(reserve_pages(sizeof(Slot) * old_count * 2));
    if (wider == nullptr) return false;
    slots_ = wider;
    slot_count_ = old_count * 2;
    filled_ = 0;
    for (std::size_t i = 0; i < old_count; ++i)
        if (old[i].id != 0 && old[i].id != kErased) put(old[i]);
    release_pages(old, sizeof(Slot) * old_count);
    return true;
}

void Cache::put(const Slot& slot) {
    std::size_t at = slot.hash & (slot_count_ - 1);
    while (slots_[at].id != 0 && slots_[at].id != kErased) at = (at + 1) & (slot_count_ - 1);
    if (slots_[at].id == 0) ++filled_;
    slots_[at] = slot;
}

bool Cache::insert(BlockId id) {
    if ((filled_ + 1) * 4 > slot_count_ * 3 && !grow()) return false;
    put({id, hash(blocks[id].pc, blocks[id].limit)});
    return true;
}

bool Cache::add(Block& block) {
    const BlockId id = id_of(block);
    if (!insert(id)) return false;
    live_code += block.guest_bytes;
    seen_code += block.guest_bytes;
    BlockId* const head = pages_.make(block.pc);
    if (head == nullptr) {
        remove(block);
        return false;
    }
    block.next_in_page = *head;
    *head = id;
    return true;
}

/// False where it was never known.
bool Cache::erase(const Block& block) {
    const BlockId id = id_of(block);
    std::size_t at = hash(block.pc, block.limit) & (slot_count_ - 1);
    while (slots_[at].id != id) {
        if (slots_[at].id == 0) return false;
        at = (at + 1) & (slot_count_ - 1);
    }
    slots_[at].id = kErased;
    return true;
}

void Cache::link(ExitId id, Block& block) {
    Exit& exit = exits[id];
    if (exit.operand == 0 || exit.to != 0 || block.dead || block.code != nullptr || blocks[exit.from].dead) return;
    if (blocks[exit.from].limit == kAlone) return;
    if (!within_rel32(operand_of(exit) + 4, block.host))
        return;  // another arena: goes by way of the engine or the table
    exit.to = id_of(block);
    exit.next_incoming = block.incoming;
    block.incoming = id;
    patch(operand_of(exit), block.host);
}

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

void Cache::remove(Block& block) {
    if (block.dead) return;
    unlink(block);
    if (erase(block)) live_code -= block.guest_bytes;
    take_out(block.landing);
    block.dead = true;
    // Its own exits stay linked for a thread that is inside, but must not be found in the lists of their targets.
    for (ExitId id = block.first_exit; id < block.first_exit + block.exits; ++id) {
        Exit& exit = exits[id];
        if (exit.to == 0) continue;
        ExitId* place = &blocks[exit.to].incoming;
        while (*place != 0 && *place != id) place = &exits[*place].next_incoming;
        if (*place == id) *place = exit.next_incoming;
        patch(operand_of(exit), stub_of(exit));
        exit.to = 0;
        exit.next_incoming = 0;
    }
}

namespace {

bool overlaps(const Block& block, std::uint64_t start, std::uint64_t end) {
    return block.pc < end && block.pc + block.guest_bytes > start;
}

}  // namespace

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

void Cache::remove_by_scan(std::uint64_t start, std::uint64_t end) {
    for (BlockId id = 1; id <= blocks.used(); ++id)
        if (!blocks[id].dead && overlaps(blocks[id], start, end)) remove(blocks[id]);
}

void Cache::remove_range(std::uint64_t start, std::uint64_t end) {
    static_assert(kLongestBlockBytes <= kPageBytes);
    const std::uint64_t first =
        start < kPageBytes ? 0 : page_down(start - kPageBytes);  // a block may reach over its end
    if ((end - first) / kPageBytes > pages_.pages()) return remove_by_scan(start, end);
    for (std::uint64_t page = first; page < end; page += kPageBytes) remove_in_page(page, start, end);
}

void Cache::remove_all() {
    remove_by_scan(0, ~std::uint64_t{0});
}

void Cache::drop_all() {
    for (std::uint32_t i = 0; i < arena_count; ++i) arenas[i].drop();
    blocks.drop();
    exits.drop();
    marks.drop();
    landings.drop();
    copies.drop();
    pages_.drop();
    empty_pages(slots_, sizeof(Slot) * slot_count_);
    empty_pages(heads_, sizeof(LandingId) * kTableEntries);
    filled_ = 0;
    live_code = seen_code = 0;
    ++generation;
}

std::size_t Cache::bytes() const {
    std::size_t sum = blocks.bytes() + exits.bytes() + marks.bytes() + landings.bytes() + copies.bytes() +
                      pages_.bytes() + sizeof(Slot) * 2 * filled_;
    for (std::uint32_t i = 0; i < arena_count; ++i) sum += arenas[i].bytes();
    return sum;
}

bool Cache::is_full() const {
    constexpr std::size_t kBase = std::size_t{24} << 20;
    constexpr std::size_t kOfCode = 8;
    if (most != 0) return blocks.used() != 0 && bytes() > most;
    // Where nearly all of it lives, it would all be translated again.
    return seen_code > 2 * live_code && bytes() > kBase + kOfCode * live_code;
}

LandingId Cache::new_landing(std::uint64_t pc) {
    const LandingId id = landings.take();
    if (id != 0) landings[id] = {.pc = pc};
    return id;
}

void Cache::add_landing(Block& block) {
    for (std::uint32_t i = 0; i < arena_count; ++i) {
        Arena& arena = arenas[i];
        if (!arena.holds(address_of(block.host))) continue;
        x86_64::Emitter cold = arena.cold();
        // The landing behind what only it needs, so that it is one piece.
        x86_64::Emitter code{cold.at() + kLandingRoom / 2, cold.at() + kLandingRoom};
        if (cold.room() < kLandingRoom) return;
        block.landing = new_landing(block.pc);
        if (block.landing == 0) return;
        x86_64::Emitter other{cold.at(), cold.at() + kLandingRoom / 2};
        x86_64::emit_landing(code, other, landings[block.landing], nowhere(), landings_loop);
        code.jmp(block.host);
        arena.commit(arena.hot(), code, 0);
        return;
    }
}

void Cache::add_to_table(LandingId id) {
    Landing& landing = landings[id];
    if (landing.in_table) return;
    const std::size_t slot = landing.pc & (kTableEntries - 1);
    landing.in_table = true;
    landing.next_in_slot = heads_[slot];
    __atomic_store_n(landing.other, table_[slot], __ATOMIC_RELEASE);
    heads_[slot] = id;
    set_table(slot, address_of(landing.host));
}

/// Who stands in the landing goes on to those behind it.
void Cache::take_out(LandingId id) {
    if (id == 0 || !landings[id].in_table) return;
    Landing& landing = landings[id];
    const std::size_t slot = landing.pc & (kTableEntries - 1);
    const std::uint64_t behind = __atomic_load_n(landing.other, __ATOMIC_RELAXED);
    landing.in_table = false;
    if (heads_[slot] == id) {
        heads_[slot] = landing.next_in_slot;
        return set_table(slot, behind);
    }
    Landing* before = &landings[heads_[slot]];
    while (before->next_in_slot != id) before = &landings[before->next_in_slot];
    before->next_in_slot = landing.next_in_slot;
    __atomic_store_n(before->other, behind, __ATOMIC_RELEASE);
}

bool Cache::keep_code(Block& block, const std::uint8_t* code) {
    const std::uint32_t first = copies.take(block.guest_bytes);
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

/// The next one is mapped.
Arena* Cache::begin_arena() {
    Arena& arena = arenas[arena_count++];
    x86_64::emit_ways_out(arena);
    return &arena;
}

Arena* Cache::arena_for(std::uint64_t pc) {
    constexpr std::size_t kRoomForOneBlock = 65536;
    const auto has_room = [](const Arena& arena) {
        return arena.hot().room() > kRoomForOneBlock && arena.cold().room() > kRoomForOneBlock;
    };
    for (std::uint32_t i = 0; i < arena_count; ++i)
        if (arenas[i].reaches(pc) && has_room(arenas[i])) return &arenas[i];
    const bool may_map = arena_count < kMaximumArenas;
    constexpr unsigned kNeighbourhood = 30;
    if (may_map && pc >> kNeighbourhood != crowded_) {
        if (arenas[arena_count].map_near(pc)) return begin_arena();
        crowded_ = pc >> kNeighbourhood;
    }
    // Programs reserve gigabytes: from far away code is translated with addresses of full width.
    for (std::uint32_t i = arena_count; i-- > 0;)
        if (has_room(arenas[i])) return &arenas[i];
    return may_map && arenas[arena_count].map_anywhere() ? begin_arena() : nullptr;
}

bool Cache::is_translated_code(std::uint64_t host) const {
    for (std::uint32_t i = 0; i < arena_count; ++i)
        if (arenas[i].holds(host)) return true;
    return false;
}

std::uint64_t Cache::host_with_low_half(std::uint32_t low) {
    for (std::uint32_t i = 0; i < arena_count; ++i)
        if (const std::uint64_t host = arenas[i].with_low_half(low); host != 0 && holding(host) != nullptr) return host;
    return 0;
}

Block* Cache::holding(std::uint64_t host) {
    for (std::uint32_t i = 0; i < arena_count; ++i) {
        const Arena& arena = arenas[i];
        if (!arena.holds(host)) continue;
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

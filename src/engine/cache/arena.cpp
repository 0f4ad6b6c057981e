// arena.cpp: where arenas are placed. A rip-relative operand keeps its 32-bit displacement only if the arena is within
// 2 GiB of the operand, which is mostly near the code. Everything that is committed stays until free_all(), so there is
// no list of free memory: an arena is two cursors.
#include "engine/cache/arena.h"

#include <sys/mman.h>

#include <initializer_list>

#include "engine/freestanding/pages.h"

namespace anyperf::engine {

namespace {

constexpr std::uint64_t kReach = (std::uint64_t{1} << 31) - 65536;  // a margin for the length of the instruction
// Programs that choose addresses choose round ones. It is the start of a large page.
constexpr std::uint64_t kOddPlace = 0x1c00000;
static_assert(kOddPlace % kLargePageBytes == 0);
constexpr std::uint64_t kUserEnd = std::uint64_t{1} << 47;

/// Maps a page without access on either side, so that a program that writes past its own memory does not write to code.
/// Where the program already has a mapping, no guard is placed.
void map_guards(std::uint64_t start, std::size_t bytes) {
    constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    for (const std::uint64_t at : {start - kPageBytes, start + bytes})
        map_own_pages_at(at, kPageBytes, PROT_NONE, kFlags);
}

}  // namespace

bool Arena::map_at(std::uint64_t address, bool exactly, bool separate, bool large) {
    // Kept if the mapping fails: map_near() tries up to ten addresses.
    if (blocks_ == nullptr) blocks_ = static_cast<BlockId*>(reserve_pages(sizeof(BlockId) * kMaximumBlocks));
    if (blocks_ == nullptr || !memory_.map_at(address, kBytes, exactly, separate)) return false;
    map_guards(memory_.start(), kBytes);
    const std::uint64_t start = writable_start();
    large_ = large && start % kLargePageBytes == 0;
    if (large_) prefer_large_pages(start, start + kFirstBytes);
    for (Part* const part : {&hot_.second, &cold_.second}) part->pages.begin(0);
    ready_pages();
    return true;
}

/// Has pages for what is written next: mostly less than a page.
void Arena::ready_pages() {
    for (Code* const code : {&hot_, &cold_}) {
        Part& part = code->in_first() ? code->first : code->second;
        const std::size_t used = code->next - part.start + kPageBytes;
        part.pages.use(writable_start() + part.start, used, part.end - part.start);
    }
    block_pages_.use(address_of(blocks_), (block_count_ + 1) * sizeof(BlockId), sizeof(BlockId) * kMaximumBlocks);
}

std::size_t Arena::touched_pages() const {
    // With separate writes each page is touched a second time, for execution, where the kernel maps 16 at once
    // (fault_around_bytes in debugfs).
    constexpr std::size_t kAround = 16;
    std::size_t code = large_ ? 1 : 0;
    for (const Code* const each : {&hot_, &cold_}) {
        if (!large_) code += each->first.pages.touched_pages(writable_start() + each->first.start);
        code += each->second.pages.touched_pages(writable_start() + each->second.start);
    }
    return code + (memory_.has_separate_writes() ? code / kAround : 0) +
           block_pages_.touched_pages(address_of(blocks_));
}

bool Arena::map_near(std::uint64_t pc, bool separate, bool large) {
    // Places below come first, since a program's break grows upwards from its image. The nearest places are left to the
    // application: the kernel places its next mappings next to those that it has.
    for (const std::int64_t megabytes : {-1024, -512, -1536, 1024, 512, 1536, -256, 256, -1800, 1800}) {
        const std::uint64_t address =
            (pc & ~(kBytes - 1)) + static_cast<std::uint64_t>(megabytes * (1 << 20)) + kOddPlace;
        if (address < kPageBytes * 16 || address > kUserEnd - kBytes) continue;
        if (map_at(address, true, separate, large)) return true;
    }
    return false;
}

bool Arena::map_anywhere(bool separate) {
    return map_at(0, false, separate, false);
}

void Arena::free_all() {
    // The routines in the cold code stay (retain_cold()): they are what every thread returns through.
    const auto discard = [this](Part& part, std::size_t retained) {
        if (part.pages.ready() > retained) memory_.discard(part.start + retained, part.pages.ready() - retained);
        part.pages.discarded(retained);
    };
    discard(hot_.first, 0);
    discard(hot_.second, 0);
    discard(cold_.first, page_up(retained_cold_ - kFirstHotBytes));
    discard(cold_.second, 0);
    discard_pages(blocks_, block_pages_.ready());
    block_pages_.discarded();
    hot_.next = hot_.first.start;
    cold_.next = retained_cold_;
    block_count_ = 0;
}

bool Arena::begin_copy() {
    const auto used = [](const Code& code, const Part& part) {
        const bool is_last = code.in_first() == (&part == &code.first);
        const std::size_t end = is_last ? code.next : &part == &code.first ? part.end : part.start;
        return CodeMemory::Used{part.start, end - part.start};
    };
    return memory_.begin_copy(
        {used(hot_, hot_.first), used(hot_, hot_.second), used(cold_, cold_.first), used(cold_, cold_.second)});
}

bool Arena::reaches(std::uint64_t address) const {
    const std::uint64_t low = memory_.start();
    const std::uint64_t high = low + kBytes;
    // Both ends of the arena have to reach it: the distance from the far end decides.
    return (address >= low || high - address < kReach) && (address < high || address - low < kReach);
}

void Arena::commit(BlockId block, const std::uint8_t* hot_end, const std::uint8_t* cold_end) {
    blocks_[block_count_++] = block;
    hot_.move_to(address_of(hot_end) - memory_.start());
    commit_cold(cold_end);
}

void Arena::commit_cold(const std::uint8_t* cold_end) {
    cold_.move_to(address_of(cold_end) - memory_.start());
    memory_.written();
    ready_pages();
}

}  // namespace anyperf::engine

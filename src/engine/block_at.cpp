// block_at.cpp: see block_at.h.
#include "engine/block_at.h"

#include <algorithm>

#include "engine/fail.h"
#include "engine/freestanding/pages.h"
#include "engine/log.h"
#include "engine/memory/changed_code.h"
#include "engine/threads.h"
#include "engine/x86_64/guarded_copy.h"

namespace anyperf::engine {

namespace {

enum class Found {
    block,
    nothing,   ///< no instruction that the engine can run
    no_room,   ///< in the cache
    changing,  ///< the code was written meanwhile
};

/// One try to find or make a translation, as guarded_run wants it.
struct Search {
    Thread& thread;
    std::uint64_t pc;
    std::uint16_t limit;
    bool landing;
    Block* block = nullptr;
    bool is_new = false;
    Found found = Found::nothing;
};

/// Precondition: the bytes stand still.
Found translate(Search& search, const x86_64::CodeBytes& code) {
    Engine& engine = *search.thread.engine;
    x86_64::Instruction first;
    if (decode(code.at, code.size, first) != x86_64::DecodeStatus::ok) return Found::nothing;
    Arena* const arena = engine.cache.is_full() ? nullptr : engine.cache.arena_for(search.pc);
    if (arena == nullptr) return Found::no_room;
    search.block = x86_64::Translation{engine.cache, *arena, engine.counting, engine.watched}.run(code, search.limit,
                                                                                                  search.landing);
    return search.block != nullptr ? Found::block : Found::no_room;
}

/// A copy by words, so that what others change by one aligned store is old or new, as it is to the CPU.
void copy_words(const std::uint8_t* from, std::size_t bytes, std::uint8_t* to) {
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    for (std::size_t i = 0; i < bytes;) {
        const std::uint64_t address = address_of(from + i);
        const std::uint64_t word =
            __atomic_load_n(at_address<const std::uint64_t>(address & ~(kWord - 1)), __ATOMIC_RELAXED);
        for (std::size_t at = address % kWord; at < kWord && i < bytes; ++at, ++i)
            to[i] = static_cast<std::uint8_t>(word >> (8 * at));
    }
}

/// From a copy, which is compared each time, since not everybody can be kept from changing the code. Whoever can be is,
/// so that a block that writes to itself is left.
Found translate_compared(Search& search, x86_64::CodeBytes code) {
    Engine& engine = *search.thread.engine;
    std::uint8_t copy[kLongestBlockBytes];
    code.size = std::min(code.size, sizeof copy);
    copy_words(code.at, code.size, copy);
    code.at = copy;
    const Found found = translate(search, code);
    if (found != Found::block) return found;
    guard_code(engine, search.pc, search.pc + search.block->guest_bytes);
    return engine.cache.keep_code(*search.block, copy) ? Found::block : Found::no_room;
}

/// Who writes to the code waits meanwhile: what is decoded is what is copied, and what runs is what stands there.
Found translate_guarded(Search& search, const x86_64::CodeBytes& code) {
    Engine& engine = *search.thread.engine;
    if (guard_code(engine, search.pc, search.pc + 1) == Guard::impossible) return translate_compared(search, code);
    const Found found = translate(search, code);
    if (found != Found::block) return found;
    switch (guard_code(engine, search.pc, search.pc + search.block->guest_bytes)) {
        case Guard::as_it_was: return Found::block;
        case Guard::begun: return Found::changing;  // it reaches into a page that was written to while it was read
        case Guard::impossible: break;
    }
    search.block->dead = true;
    return translate_compared(search, code);
}

void find_or_translate(Search& search) {
    Cache& cache = search.thread.engine->cache;
    search.block = nullptr;
    search.found = Found::nothing;
    if (Block* const known = cache.find(search.pc, search.limit)) {
        if (!Cache::is_stale(*known)) {
            search.block = known;
            search.found = Found::block;
            return;
        }
        cache.remove(*known);
    }
    const ExecutableRange* const range = cache.executable.find(search.pc);
    if (range == nullptr) return;
    const x86_64::CodeBytes code{search.pc, at_address<const std::uint8_t>(search.pc),
                                 cache.executable.bytes_from(search.pc)};
    search.is_new = true;
    search.found = range->shared ? translate_compared(search, code) : translate_guarded(search, code);
    if (search.found == Found::block && !cache.add(*search.block)) search.found = Found::no_room;
    if (search.found != Found::block && search.block != nullptr) search.block->dead = true;
}

void search_once(void* search) {
    find_or_translate(*static_cast<Search*>(search));
}

/// What can't be read, though it may be executed, has gone under us: a file has been cut, another thread unmaps.
void forget_page(Engine& engine, std::uint64_t address) {
    const std::uint64_t page = page_down(address);
    engine.cache.remove_range(page, page + kPageBytes);
    engine.cache.executable.remove(page, page + kPageBytes);
}

}  // namespace

Block* block_at(Thread& thread, std::uint64_t pc, std::uint16_t limit, bool landing) {
    Engine& engine = *thread.engine;
    Search search{thread, pc, limit, landing};
    bool emptied = false;
    for (;;) {
        if (!x86_64::guarded_run(thread.reading, search_once, &search)) {
            if (search.block != nullptr) search.block->dead = true;
            forget_page(engine, thread.reading.fault);
            continue;
        }
        if (search.found == Found::block) {
            if (search.is_new && log_wants(engine, log::kBlocks | log::kCode)) log_block(thread, *search.block);
            return search.block;
        }
        if (search.found == Found::nothing) return nullptr;
        if (search.found == Found::changing) continue;
        if (emptied) fail("no memory for translated code", pc);
        empty_cache(thread);
        emptied = true;
    }
}

void enter_at(Thread& thread, const Block& block) {
    thread.next_host = address_of(block.host);
    __atomic_store_n(&thread.inside, true, __ATOMIC_RELAXED);  // whoever waits for it takes the lock first
}

void stand_outside(Thread& thread) {
    __atomic_store_n(&thread.inside, false, __ATOMIC_RELEASE);
}

}  // namespace anyperf::engine

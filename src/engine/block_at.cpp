// block_at.cpp: reads code that may change or vanish while it is read.
//
// There are three cases:
// - Private code is translated from its pages, which are write-protected first: a writer faults and waits for the
//   cache's lock.
// - If protection is impossible, or if the code can change without a write to its pages (a shared mapping, a file that
//   programs of the run write: syscalls/file_writes.h), the block keeps a copy, and each entry compares the code with
//   it.
// - If code cannot be read, the attempt ends: guarded_run() returns false after a fault.
//
// block_at() repeats the attempt after a fault (the page is forgotten, so the next attempt finds nothing there), after
// a flush, and if the block reaches into a page that was protected only after it had been read.
#include "engine/block_at.h"

#include <time.h>

#include <algorithm>

#include "engine/fail.h"
#include "engine/freestanding/kernel.h"
#include "engine/freestanding/pages.h"
#include "engine/log.h"
#include "engine/memory/protected_code.h"
#include "engine/syscalls/file_writes.h"
#include "engine/threads/thread_list.h"
#include "engine/traces.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

namespace {

enum class Found {
    block,
    nothing,   ///< no instruction that the engine can run
    no_room,   ///< the cache is full
    changing,  ///< the code may have been written while it was read
};

/// One attempt to find or make a translation: the context of guarded_run().
struct Search {
    Thread& thread;
    std::uint64_t pc;
    std::uint16_t limit;
    Arrival arrival;
    Block* block = nullptr;
    bool is_new = false;
    x86_64::Relocations* relocations = nullptr;  ///< for the store, if the block is to be stored
    Found found = Found::nothing;
};

/// Asked where there is no room: an address without an instruction must not cause a flush.
bool begins_with_instruction(const x86_64::CodeBytes& code) {
    x86_64::Instruction first;
    return decode(code.at, code.size, first) == x86_64::DecodeStatus::ok;
}

/// Translates `code`. Precondition: no thread can change the bytes meanwhile.
Found translate(Search& search, const x86_64::CodeBytes& code) {
    Engine& engine = *search.thread.engine;
    Arena* const arena = engine.cache.is_full() ? nullptr : x86_64::prepared_arena(engine.cache, search.pc);
    if (arena == nullptr) return begins_with_instruction(code) ? Found::no_room : Found::nothing;
    x86_64::Translation translation{engine.cache,           *arena,        engine.counting,   engine.tuples,
                                    engine.instrumentation, &engine.exact, search.relocations};
    if (search.arrival != Arrival::other) translation.count_executions();
    if (search.arrival == Arrival::step) translation.enter_by_step();
    search.block = translation.run(code, search.limit, search.arrival == Arrival::indirect);
    if (search.block != nullptr) return Found::block;
    return translation.found_instructions() ? Found::no_room : Found::nothing;
}

/// Copies code by aligned words. So if another thread changes it by one aligned store, the copy has the old or the new
/// code, as the CPU sees it.
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

/// Translates from a copy. Each entry of the block compares the code with it, because the code may change through
/// another mapping. Its pages are write-protected all the same, if possible, so that the engine notices a block that
/// writes to itself.
Found translate_compared(Search& search, x86_64::CodeBytes code) {
    Engine& engine = *search.thread.engine;
    std::uint8_t copy[kLongestBlockBytes];
    code.size = std::min(code.size, sizeof copy);
    copy_words(code.at, code.size, copy);
    code.at = copy;
    const Found found = translate(search, code);
    if (found != Found::block) return found;
    protect_code(engine, search.pc, search.pc + search.block->guest_bytes);
    return engine.cache.keep_code_copy(*search.block, copy) ? Found::block : Found::no_room;
}

/// Translates from memory. The pages are write-protected before they are read, so that writers fault and wait for the
/// cache's lock until the translation is complete.
Found translate_protected(Search& search, const x86_64::CodeBytes& code) {
    Engine& engine = *search.thread.engine;
    if (protect_code(engine, search.pc, search.pc + 1) == Protection::impossible)
        return translate_compared(search, code);
    const Found found = translate(search, code);
    if (found != Found::block) return found;
    switch (protect_code(engine, search.pc, search.pc + search.block->guest_bytes)) {
        case Protection::unchanged: return Found::block;
        case Protection::added:
            return Found::changing;  // the block reaches into a page that was not protected while it was read
        case Protection::impossible: break;
    }
    // The memory of the unused block stays until the next flush. A dead block is in no table.
    search.block->dead = true;
    return translate_compared(search, code);
}

/// Where a block that begins at `pc` must end so that no page is read that wait_for_code() has not read: with its page,
/// or, if its first instruction reaches into the next page, with that one.
std::uint64_t end_of_awaited(std::uint64_t pc) {
    const std::uint64_t page_end = page_down(pc) + kPageBytes;
    if (pc + x86_64::kLongestInstruction <= page_end) return page_end;
    x86_64::Instruction first;
    const bool fits = decode(at_address<const std::uint8_t>(pc), page_end - pc, first) == x86_64::DecodeStatus::ok;
    return fits ? page_end : page_end + kPageBytes;
}

/// Whether the store may have the block, and may get it. Where translations are logged each is made anew.
bool is_stored(const Search& search, const ExecutableRange& range) {
    const Engine& engine = *search.thread.engine;
    return range.stored != 0 && search.limit == 0 && !engine.cache.pairs_returns && !engine.has_userfaultfd &&
           !engine.exact.on() && !has_written_files(engine) &&
           engine.store.covers(range, engine.counting, engine.instrumentation) &&
           !log_wants(engine, run::log::kBlocks | run::log::kCode);
}

/// Whether the store may open files. If the process had another thread, that one could be given the number that comes
/// after the store's descriptor.
bool may_open(const Engine& engine) {
    return engine.threads != nullptr && engine.threads->next_thread == nullptr;
}

/// What is stored has no pads, so a process that stores its translations pairs no returns at first. Paired returns save
/// a large program 10 to 25 % of its time (docs/engine.md), and to translate 100,000 blocks anew takes some 0.15 s. So
/// after a second they are worth it: a process that ends soon loses no more than one that runs on gains.
void pair_returns_late(Cache& cache) {
    constexpr std::uint32_t kBetween = 256;  // blocks; the clock is a system call
    constexpr std::int64_t kSeconds = 1;
    if (cache.blocks.used() < cache.pairs_late) [[likely]]
        return;
    struct timespec used{};
    kernel_call(__NR_clock_gettime, CLOCK_PROCESS_CPUTIME_ID, address_of(&used));
    if (used.tv_sec >= kSeconds) cache.pair_returns_from = cache.blocks.used();
    cache.pairs_late = used.tv_sec >= kSeconds ? Cache::kNeverPaired : cache.blocks.used() + kBetween;
}

/// The program's own fault, if the page of its code is not there.
void touch(const x86_64::CodeBytes& code) {
    static_cast<void>(*static_cast<const volatile std::uint8_t*>(code.at));
}

/// Whether the thread arrives by a branch that makes a step, and the block has no code for that. It is translated
/// again.
bool lacks_step_entry(const Search& search, const Block& block) {
    if (!search.thread.engine->cache.charges_steps || block.limit != 0 || block.has_step_entry != 0) return false;
    return search.arrival == Arrival::step || (search.arrival == Arrival::indirect && block.follows_call == 0);
}

void find_or_translate(Search& search) {
    Cache& cache = search.thread.engine->cache;
    search.block = nullptr;
    search.found = Found::nothing;
    if (Block* const known = cache.find(search.pc, search.limit)) {
        if (!Cache::is_stale(*known) && !lacks_step_entry(search, *known)) {
            search.block = known;
            search.found = Found::block;
            return;
        }
        cache.remove(*known);
    }
    const ExecutableRange* const range = cache.executable.find(search.pc);
    if (range == nullptr) return;
    x86_64::CodeBytes code{search.pc, at_address<const std::uint8_t>(search.pc),
                           cache.executable.bytes_from(search.pc)};
    if (search.thread.engine->has_userfaultfd)
        code.size = std::min<std::size_t>(code.size, end_of_awaited(search.pc) - search.pc);
    search.relocations = nullptr;
    if (is_stored(search, *range)) {
        Engine& engine = *search.thread.engine;
        pair_returns_late(cache);
        if (search.thread.page.faults_are_counted != 0) touch(code);
        search.block =
            engine.store.load(cache, engine.tuples, engine.counting, *range, search.pc,
                              {search.arrival == Arrival::indirect, search.arrival == Arrival::step}, may_open(engine));
        search.found = Found::block;
        if (search.block != nullptr) return;
        search.relocations = &engine.store.relocations();
    }
    search.is_new = true;
    search.found = range->shared ? translate_compared(search, code) : translate_protected(search, code);
    if (search.found == Found::block && !cache.add(*search.block)) search.found = Found::no_room;
    if (search.found != Found::block && search.block != nullptr) search.block->dead = true;
    if (search.found != Found::block || search.relocations == nullptr) return;
    search.thread.engine->store.note(cache, search.thread.engine->counting, *range, *search.block);
}

void search_once(void* search) {
    find_or_translate(*static_cast<Search*>(search));
}

/// Forgets an executable page that can't be read: its file was truncated, or another thread is unmapping it.
void forget_page(Engine& engine, std::uint64_t address) {
    const std::uint64_t page = page_down(address);
    engine.cache.remove_range(page, page + kPageBytes);
    engine.cache.executable.remove(page, page + kPageBytes);
}

}  // namespace

void wait_for_code(const Engine& engine, std::uint64_t pc) {
    if (!engine.has_userfaultfd) [[likely]]
        return;
    // A copy, because the page may go again, and a fault here must not need the lock.
    std::uint8_t copy[x86_64::kLongestInstruction];
    const std::uint64_t page_end = page_down(pc) + kPageBytes;
    const std::size_t bytes = std::min<std::size_t>(sizeof copy, page_end - pc);
    if (!x86_64::guarded_copy(copy, at_address<const void>(pc), bytes) || bytes == sizeof copy) return;
    x86_64::Instruction first;
    if (decode(copy, bytes, first) != x86_64::DecodeStatus::ok)
        x86_64::guarded_copy(copy, at_address<const void>(page_end), 1);
}

Block* block_at(Thread& thread, std::uint64_t pc, std::uint16_t limit, Arrival arrival) {
    Engine& engine = *thread.engine;
    Search search{thread, pc, limit, arrival};
    bool flushed = false;
    for (;;) {
        if (!x86_64::guarded_run(thread.reading, search_once, &search)) {
            if (search.block != nullptr) search.block->dead = true;
            if (!engine.store.drop_faulted(thread.reading.fault)) forget_page(engine, thread.reading.fault);
            continue;
        }
        if (search.found == Found::block) {
            if (search.is_new && log_wants(engine, run::log::kBlocks | run::log::kCode))
                log_block(thread, *search.block);
            return search.block;
        }
        if (search.found == Found::nothing) return nullptr;
        if (search.found == Found::changing) continue;
        // An empty cache that has no room for one block will not have it later.
        if (flushed) fail("no memory for translated code", pc);
        flush_cache(thread);
        flushed = true;
    }
}

void set_next_block(Thread& thread, const Block& block) {
    if (is_on_path(thread)) [[unlikely]]
        add_leg(thread, block);
    thread.next_host = address_of(block.host);
    __atomic_store_n(&thread.in_cache, true, __ATOMIC_RELAXED);  // relaxed: a flush reads it under the lock
}

void exit_cache(Thread& thread) {
    __atomic_store_n(&thread.in_cache, false, __ATOMIC_RELEASE);
}

}  // namespace anyperf::engine

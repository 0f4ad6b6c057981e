#include "engine/memory/page_faults.h"

#include "engine/engine.h"
#include "engine/freestanding/pages.h"
#include "engine/freestanding/pages_ahead.h"
#include "engine/traces.h"

namespace anyperf::engine {

using x86_64::ExitReason;
using x86_64::Thread;

namespace {

/// Has the kernel allocate the pages that are not there yet. False: it does not.
bool touch_from(const void* start, const void* end) {
    const std::uint64_t from = page_down(address_of(start));
    return touch_pages(at_address<const void>(from), address_of(end) - from);
}

/// The same for the head of a table, which says whether it has entries.
template <class Table>
bool touch_head(const Table& table) {
    return touch_from(&table, at_address<const void>(address_of(&table) + sizeof(std::uint64_t)));
}

}  // namespace

FaultsOfEngine::FaultsOfEngine(Thread& thread) : thread_(thread) {
    if (thread.page.faults_are_counted != 0) before_ = faults_of_thread();
}

// The program's faults are what the count has grown by since the baseline, so the baseline moves.
FaultsOfEngine::~FaultsOfEngine() {
    if (thread_.page.faults_are_counted == 0) return;
    const PageFaults now = faults_of_thread();
    thread_.faults_at_entry[0] += now.minor - before_.minor;
    thread_.faults_at_entry[1] += now.major - before_.major;
}

HeldCache::HeldCache(Thread& thread) : thread_(thread) {
    thread.engine->cache.lock.lock();
    before_ = PagesAhead::faults();
}

HeldCache::~HeldCache() {
    thread_.faults_at_entry[0] += PagesAhead::faults() - before_;
    thread_.engine->cache.lock.unlock();
}

// What is large and used by other visits only is left out: on some virtual machines a page costs 10 us.
void touch_quiet_memory(Thread& thread) {
    using x86_64::kEngineStackBytes;
    PagesAhead::begin_counting();
    if (thread.quiet_memory_touched) return;
    Engine& engine = *thread.engine;
    const auto* const stack = at_address<const void>(thread.engine_stack - kEngineStackBytes);
    thread.quiet_memory_touched =
        touch_from(&engine, &engine.instrumentation) && touch_head(engine.instrumentation.code) &&
        touch_head(engine.instrumentation.targets) && touch_from(&engine.modelling, &engine + 1) &&
        touch_from(&thread, thread.return_pads) && touch_from(thread.heat, thread.watchpoint_filter) &&
        touch_from(stack, at_address<const void>(thread.engine_stack));
}

bool counts_faults_at_exit(Thread& thread) {
    // Others read what the thread has counted so far: a part of the quiet visits brings it up to date.
    constexpr unsigned kQuietVisits = 64;
    const Engine& engine = *thread.engine;
    const bool translates =
        thread.exit_reason == ExitReason::unlinked_exit || thread.exit_reason == ExitReason::lookup_miss;
    return !translates || !thread.quiet_memory_touched || thread.locates_faults || engine.has_forked ||
           engine.turns != nullptr || engine.instrumentation.targets.any() || thread.single_step != SingleStep::no ||
           thread.trapped_pc != 0 || is_on_path(thread) || thread.quiet_visits++ % kQuietVisits == 0;
}

}  // namespace anyperf::engine

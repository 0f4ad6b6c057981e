// watch.cpp: see watch.h.
#include "engine/watch.h"

namespace anyperf::engine {

namespace {

/// A program that opens and closes breakpoints in a loop is not translated anew each time.
constexpr std::uint32_t kSwitchesOff = 16;

bool any(const Watches& watches, bool WatchedMemory::* kind) {
    for (std::uint32_t i = 0; i < watches.memory_count; ++i)
        if (watches.memory[i].*kind) return true;
    return false;
}

void mark_filter(Thread& thread, const Watches& watches, std::uint8_t value) {
    for (std::uint32_t i = 0; i < watches.memory_count; ++i) {
        const WatchedMemory& memory = watches.memory[i];
        for (std::uint64_t at = memory.start - (kWidestAsked - 1); at != memory.start + memory.bytes; ++at)
            thread.watch_filter[at & (kWatchFilterEntries - 1)] = value;
    }
}

void use_address(Engine& engine, std::uint64_t pc) {
    if (engine.watched.code.add(pc)) engine.cache.remove_range(pc, pc + 1);
}

void drop_address(Engine& engine, std::uint64_t pc) {
    if (engine.watched.code.drop(pc)) engine.cache.remove_range(pc, pc + 1);
}

std::uint8_t recorded_kinds(const Watched& watched) {
    std::uint8_t kinds = 0;
    for (unsigned i = 0; i < branch::kKinds; ++i)
        if (watched.recording[i] != 0) kinds |= static_cast<std::uint8_t>(1u << i);
    return kinds;
}

/// Code that does too little is wrong as soon as somebody watches; code that does too much is only slow when nobody
/// does.
void translate_as_wanted(Engine& engine) {
    Watched& watched = engine.watched;
    const bool loads = watched.loading != 0;
    const bool stores = watched.storing != 0;
    const std::uint8_t kinds = recorded_kinds(watched);
    const bool more = (loads && !watched.loads) || (stores && !watched.stores) || (kinds & ~watched.branches) != 0;
    const bool less = loads != watched.loads || stores != watched.stores || kinds != watched.branches;
    const bool nobody = !loads && !stores && kinds == 0 && less;
    if (!more && (!nobody || watched.switched_off++ >= kSwitchesOff)) return;
    watched.loads = loads;
    watched.stores = stores;
    watched.branches = kinds;
    engine.cache.remove_all();
}

void begin_recording(Thread& thread, std::uint8_t before, std::uint8_t now) {
    if ((now & ~before & branch::kEvery) != 0) thread.branches = {};
    if ((now & ~before & branch::kCallStack) != 0) thread.calls = {};
}

}  // namespace

void set_watches(Thread& thread, const Watches& watches) {
    const Watches before = thread.watches;
    if (before == watches) return;
    Engine& engine = *thread.engine;
    mark_filter(thread, before, 0);
    mark_filter(thread, watches, 1);
    begin_recording(thread, before.branches, watches.branches);
    thread.watches = watches;
    const Held held{engine.cache.lock};
    Watched& watched = engine.watched;
    watched.loading += any(watches, &WatchedMemory::loads) - any(before, &WatchedMemory::loads);
    watched.storing += any(watches, &WatchedMemory::stores) - any(before, &WatchedMemory::stores);
    for (unsigned i = 0; i < branch::kKinds; ++i)
        watched.recording[i] += (watches.branches >> i & 1u) - (before.branches >> i & 1u);
    for (std::uint32_t i = 0; i < watches.code_count; ++i) use_address(engine, watches.code[i]);
    for (std::uint32_t i = 0; i < before.code_count; ++i) drop_address(engine, before.code[i]);
    translate_as_wanted(engine);
}

void forget_watches(Thread& thread) {
    Engine& engine = *thread.engine;
    mark_filter(thread, thread.watches, 0);
    thread.watches = {};
    const Held held{engine.cache.lock};
    Watched& watched = engine.watched;
    watched.targets.clear();
    if (!watched.code.any() && !watched.loads && !watched.stores && watched.branches == 0) return;
    watched.code.clear();
    watched.loads = watched.stores = false;
    watched.loading = watched.storing = watched.switched_off = 0;
    watched.branches = 0;
    for (std::uint32_t& kind : watched.recording) kind = 0;
    engine.cache.remove_all();
}

void watch_code(Engine& engine, std::uint64_t pc) {
    const Held held{engine.cache.lock};
    use_address(engine, pc);
}

void unwatch_code(Engine& engine, std::uint64_t pc) {
    const Held held{engine.cache.lock};
    drop_address(engine, pc);
}

bool watch_target(Engine& engine, std::uint64_t pc) {
    const Held held{engine.cache.lock};
    ReturnTargets& targets = engine.watched.targets;
    if (targets.holds(pc)) return true;
    if (targets.full()) return false;
    targets.add(pc);
    engine.cache.remove_range(pc, pc + 1);  // with what leads to it
    return true;
}

void unwatch_targets(Engine& engine) {
    const Held held{engine.cache.lock};
    if (engine.watched.targets.any()) engine.watched.targets.clear();
}

}  // namespace anyperf::engine

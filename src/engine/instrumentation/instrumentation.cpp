#include "engine/instrumentation/instrumentation.h"

#include "engine/instrumentation/open_calls.h"

namespace anyperf::engine {

namespace {

/// How often code is translated again at most to remove instrumentation: a program may open and close breakpoints in a
/// loop.
constexpr std::uint32_t kMaximumRemovals = 16;

/// Whether some watchpoint is of this kind: loads or stores.
bool any(const ThreadInstrumentation& watches, bool Watchpoint::* kind) {
    for (std::uint32_t i = 0; i < watches.memory_count; ++i)
        if (watches.memory[i].*kind) return true;
    return false;
}

/// Sets the filter for each address at which an access that touches a watchpoint may begin.
void mark_filter(Thread& thread, const ThreadInstrumentation& watches, std::uint8_t value) {
    for (std::uint32_t i = 0; i < watches.memory_count; ++i) {
        const Watchpoint& memory = watches.memory[i];
        for (std::uint64_t at = memory.start - (kWidestFiltered - 1); at != memory.start + memory.bytes; ++at)
            thread.watchpoint_filter[at & (kWatchpointFilterEntries - 1)] = value;
    }
}

/// False if there is no room for another breakpoint.
bool add_code_user(Engine& engine, std::uint64_t pc) {
    const bool first = !engine.instrumentation.code.holds(pc);
    if (!engine.instrumentation.code.add(pc)) return false;
    if (first) engine.cache.remove_range(pc, pc + 1);
    return true;
}

void remove_code_user(Engine& engine, std::uint64_t pc) {
    if (engine.instrumentation.code.remove(pc)) engine.cache.remove_range(pc, pc + 1);
}

std::uint8_t recorded_kinds(const ProcessInstrumentation& watched) {
    std::uint8_t kinds = 0;
    for (unsigned i = 0; i < branch::kKinds; ++i)
        if (watched.branch_recorders[i] != 0) kinds |= static_cast<std::uint8_t>(1u << i);
    return kinds;
}

/// Removes all translations if they lack instrumentation that a thread wants. Superfluous instrumentation only costs
/// time, so it is removed only when no thread wants any, and at most kMaximumRemovals times.
void update_translations(Engine& engine) {
    ProcessInstrumentation& watched = engine.instrumentation;
    const bool loads = watched.load_watchers != 0;
    const bool stores = watched.store_watchers != 0;
    const std::uint8_t kinds = recorded_kinds(watched);
    const bool more = (loads && !watched.loads) || (stores && !watched.stores) || (kinds & ~watched.branches) != 0;
    const bool less = loads != watched.loads || stores != watched.stores || kinds != watched.branches;
    const bool none_wanted = !loads && !stores && kinds == 0 && less;
    if (!more && (!none_wanted || watched.times_removed++ >= kMaximumRemovals)) return;
    watched.loads = loads;
    watched.stores = stores;
    watched.branches = kinds;
    engine.cache.remove_all();
}

/// Empties the lists of branches that begin to be recorded.
void begin_recording(Thread& thread, std::uint8_t before, std::uint8_t now) {
    if ((now & ~before & branch::kEvery) != 0) thread.recorded_branches = {};
    if ((now & ~before & branch::kCallStack) != 0) thread.call_stack = {};
    if ((now & ~before & branch::kOpenCalls) != 0) begin_open_calls(thread);
}

}  // namespace

void set_instrumentation(Thread& thread, const ThreadInstrumentation& wanted) {
    const ThreadInstrumentation before = thread.instrumentation;
    if (before == wanted) return;
    Engine& engine = *thread.engine;
    mark_filter(thread, before, 0);
    mark_filter(thread, wanted, 1);
    begin_recording(thread, before.branches, wanted.branches);
    thread.instrumentation = wanted;
    const LockGuard held{engine.cache.lock};
    ProcessInstrumentation& watched = engine.instrumentation;
    watched.load_watchers += any(wanted, &Watchpoint::loads) - any(before, &Watchpoint::loads);
    watched.store_watchers += any(wanted, &Watchpoint::stores) - any(before, &Watchpoint::stores);
    for (unsigned i = 0; i < branch::kKinds; ++i)
        watched.branch_recorders[i] += (wanted.branches >> i & 1u) - (before.branches >> i & 1u);
    thread.instrumentation.code_count = 0;
    for (std::uint32_t i = 0; i < wanted.code_count; ++i)
        if (add_code_user(engine, wanted.code[i]))
            thread.instrumentation.code[thread.instrumentation.code_count++] = wanted.code[i];
    for (std::uint32_t i = 0; i < before.code_count; ++i) remove_code_user(engine, before.code[i]);
    update_translations(engine);
}

void reset_instrumentation(Thread& thread) {
    Engine& engine = *thread.engine;
    mark_filter(thread, thread.instrumentation, 0);
    if ((engine.instrumentation.branches & branch::kOpenCalls) != 0) keep_open_calls(thread);
    thread.instrumentation = {};
    const LockGuard held{engine.cache.lock};
    ProcessInstrumentation& watched = engine.instrumentation;
    watched.targets.clear();
    if (!watched.code.any() && !watched.loads && !watched.stores && watched.branches == 0) return;
    watched.code.clear();
    watched.loads = watched.stores = false;
    watched.load_watchers = watched.store_watchers = watched.times_removed = 0;
    watched.branches = 0;
    for (std::uint32_t& kind : watched.branch_recorders) kind = 0;
    engine.cache.remove_all();
}

bool add_breakpoint(Engine& engine, std::uint64_t pc) {
    const LockGuard held{engine.cache.lock};
    return add_code_user(engine, pc);
}

void remove_breakpoint(Engine& engine, std::uint64_t pc) {
    const LockGuard held{engine.cache.lock};
    remove_code_user(engine, pc);
}

bool add_return_target(Engine& engine, std::uint64_t pc) {
    const LockGuard held{engine.cache.lock};
    ReturnTargets& targets = engine.instrumentation.targets;
    if (targets.holds(pc)) return true;
    if (targets.full()) return false;
    targets.add(pc);
    // With the links and the indirect entry that lead to it, and with the call before it, whose pad leads to it, too.
    engine.cache.remove_range(pc - 1, pc + 1);
    return true;
}

void clear_return_targets(Engine& engine) {
    const LockGuard held{engine.cache.lock};
    if (engine.instrumentation.targets.any()) engine.instrumentation.targets.clear();
}

}  // namespace anyperf::engine

// traces.cpp: see traces.h.
#include "engine/traces.h"

#include <algorithm>

#include "engine/cache/packed_marks.h"
#include "engine/freestanding/kernel.h"
#include "engine/log.h"
#include "engine/modelling/modelling.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/traces/trace_heads.h"

namespace anyperf::engine {

using x86_64::Class;
using x86_64::TracePath;

namespace {

constexpr std::uint32_t kDeepest = 8;  ///< calls in a path that have not returned

/// Whether the thread's budget ends so soon that its traces would rarely run to their ends. Where it ends inside of a
/// trace, shorter blocks take over, which costs some hundred instructions: with a period of 1,000 a program took up to
/// twice the time. In tests each path becomes a trace.
bool is_budget_short(const Thread& thread) {
    constexpr std::int64_t kShort = 16384;
    return thread.engine->cache.heat > 0 && thread.engine->counting.budgeted &&
           thread.page.counters.remaining() < kShort;
}

/// The legs that are still valid: code that has changed since has no translation any more.
void cut_path(Cache& cache, TracePath& path) {
    for (std::uint32_t i = 0; i < path.count; ++i) {
        const Block* const leg = cache.find(path.pc[i], kPathLeg);
        if (leg == nullptr || leg->code != nullptr) path.count = i;
    }
}

struct Work {
    Thread& thread;
    Arena& arena;
    bool indirect;
    bool step;
    Block* trace = nullptr;
};

/// The context is a Work. The legs are valid and the cache's lock is held, so their code does not change; but it may
/// be unreadable, when its file has been truncated.
void translate_path(void* context) {
    Work& work = *static_cast<Work*>(context);
    Engine& engine = *work.thread.engine;
    x86_64::Translation translation{engine.cache,           work.arena,   engine.counting, engine.tuples,
                                    engine.instrumentation, &engine.exact};
    if (work.step) translation.enter_by_step();
    translation.know_sites(sites_of_traces(work.thread));
    work.trace = translation.run_trace(work.thread.path, work.indirect);
}

Block* make_trace(Thread& thread) {
    Engine& engine = *thread.engine;
    Cache& cache = engine.cache;
    cut_path(cache, thread.path);
    if (thread.path.count == 0 || cache.heat == 0 || cache.pairs_returns || is_budget_short(thread) ||
        engine.has_userfaultfd || cache.is_full())
        return nullptr;
    const std::uint64_t pc = thread.path.pc[0];
    const Block* const before = cache.find(pc);
    if (before == nullptr || before->trace || before->code != nullptr) return nullptr;
    Arena* const arena = x86_64::prepared_arena(cache, pc);
    if (arena == nullptr) return nullptr;
    Work work{thread, *arena, before->indirect_entry != 0, before->has_step_entry != 0};
    if (!x86_64::guarded_run(thread.reading, translate_path, &work) || work.trace == nullptr) return nullptr;
    if (cache.add_trace(*work.trace)) return work.trace;
    work.trace->dead = true;
    return nullptr;
}

struct LinkedExit {
    Cache& cache;
    ExitId id;
    Block& to;
};

/// The context is a LinkedExit. The code at the exit's target is read, and may be unreadable.
void count_linked_exit(void* context) {
    const LinkedExit& exit = *static_cast<LinkedExit*>(context);
    x86_64::count_exit_of_trace(exit.cache, exit.id, exit.to);
}

}  // namespace

void add_leg(Thread& thread, const Block& leg) {
    TracePath& path = thread.path;
    if (leg.limit != kPathLeg || leg.instructions == 0) {
        path.count = 0;
        return;
    }
    if (path.count == 0) path = {};
    path.pc[path.count++] = leg.pc;
    path.instructions += leg.instructions;
    const Mark branch = mark_at(leg, leg.instructions - 1u);
    path.last_branch = leg.pc + leg.guest_bytes - branch.guest_length;
    path.last_classes = branch.classes();
}

void remove_last_leg(Thread& thread) {
    TracePath& path = thread.path;
    const LockGuard held{thread.engine->cache.lock};
    const Block* const leg = thread.engine->cache.find(path.pc[path.count - 1], kPathLeg);
    --path.count;
    if (leg != nullptr) path.instructions -= leg->instructions;
}

bool path_goes_on(Thread& thread, std::uint64_t next) {
    TracePath& path = thread.path;
    if (path.count == TracePath::kMost || path.instructions >= x86_64::kLongestBlock) return false;
    if ((path.last_classes & bit(Class::calls)) != 0) return ++path.depth <= kDeepest;
    if ((path.last_classes & bit(Class::returns)) != 0) return path.depth-- != 0;
    if (std::find(path.pc, path.pc + path.count, next) != path.pc + path.count) return false;
    const LockGuard held{thread.engine->cache.lock};
    const Block* const known = thread.engine->cache.find(next);
    return known == nullptr || !known->trace;
}

void finish_path(Thread& thread) {
    const LockGuard held{thread.engine->cache.lock};
    const Block* const trace = make_trace(thread);
    thread.path.count = 0;
    if (trace != nullptr && log_wants(*thread.engine, run::log::kBlocks | run::log::kCode)) log_block(thread, *trace);
}

void count_exit(Thread& thread, ExitId id, Block& to) {
    Cache& cache = thread.engine->cache;
    if (cache.heat == 0 || thread.engine->has_userfaultfd || !cache.blocks[cache.exits[id].from].trace) return;
    LinkedExit exit{cache, id, to};
    x86_64::guarded_run(thread.reading, count_linked_exit, &exit);
}

}  // namespace anyperf::engine

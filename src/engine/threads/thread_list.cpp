#include "engine/threads/thread_list.h"

#include <errno.h>
#include <time.h>

#include "engine/freestanding/kernel.h"
#include "engine/log.h"
#include "engine/signals/engine_signals.h"
#include "engine/x86_64/cpu/signal_frame.h"

namespace anyperf::engine {

namespace {

constexpr unsigned kYields = 200;          // checks before the first pause: a running thread soon finishes its block
constexpr unsigned kRequestInterval = 32;  // pauses between two calls of request_exit()

bool is_inside(const Thread& thread) {
    return __atomic_load_n(&thread.in_cache, __ATOMIC_ACQUIRE);
}

void pause() {
    constexpr timespec kPause{0, 100'000};
    kernel_call(__NR_nanosleep, address_of(&kPause), 0);
}

/// Sends the thread a signal that makes it leave translated code. It may stay in one instruction for a long time: a
/// REP, or an access that waits for userfaultfd(2). False if the thread does not exist any more: a process that shares
/// this memory (vfork) may have been killed in the middle of a block.
bool request_exit(Thread& thread) {
    __atomic_store_n(&thread.exit_requested, true, __ATOMIC_RELAXED);
    x86_64::SignalInfo info{};
    info.signo = kTrap;
    info.code = run::kSafepointSignalCode;
    return kernel_call(__NR_rt_tgsigqueueinfo, static_cast<std::uint64_t>(thread.page.pid),
                       static_cast<std::uint64_t>(thread.tid), kTrap, address_of(&info)) != -ESRCH;
}

/// Returns when the thread has left translated code. No exit is linked and no thread can enter, so it leaves at the end
/// of its block. A thread that takes long gets a signal.
void wait_until_outside(Thread& thread) {
    for (unsigned tries = 0; is_inside(thread); ++tries) {
        if (tries < kYields) {
            kernel_call(__NR_sched_yield);
            continue;
        }
        if (tries % kRequestInterval == 0 && !request_exit(thread))
            __atomic_store_n(&thread.in_cache, false, __ATOMIC_RELAXED);
        pause();
    }
}

}  // namespace

void add_thread(Engine& engine, Thread& thread) {
    const LockGuard held{engine.cache.lock};
    if (engine.cache.pairs_returns) x86_64::forget_return_pads(thread, engine.routines);
    thread.next_thread = engine.threads;
    engine.threads = &thread;
}

void remove_thread(Thread& thread) {
    Engine& engine = *thread.engine;
    const LockGuard held{engine.cache.lock};
    for (Thread** place = &engine.threads; *place != nullptr; place = &(*place)->next_thread) {
        if (*place != &thread) continue;
        *place = thread.next_thread;
        return;
    }
}

void keep_only_thread(Engine& engine, Thread& thread) {
    for (Thread* other = engine.threads; other != nullptr;) {
        Thread* const next = other->next_thread;
        if (other != &thread) {
            other->next_thread = engine.lost_threads;
            engine.lost_threads = other;
        }
        other = next;
    }
    engine.threads = &thread;
    thread.next_thread = nullptr;
}

// All blocks are dead before `flushing` is set. A thread that leaves its block cannot enter another one meanwhile,
// because set_next_block() needs the cache's lock, which this thread holds.
void flush_cache(const Thread& self) {
    Engine& engine = *self.engine;
    Cache& cache = engine.cache;
    if (log_wants(engine, run::log::kBlocks | run::log::kCode)) {
        Line line = log_line(self, "drop");
        line.text("all: ")
            .decimal(cache.blocks.used())
            .text(" blocks, ")
            .decimal(static_cast<std::int64_t>(cache.bytes()));
        log_write(self, line.text(" bytes"));
    }
    cache.remove_all();
    __atomic_store_n(&cache.flushing, true, __ATOMIC_RELEASE);
    for (Thread* thread = engine.threads; thread != nullptr; thread = thread->next_thread)
        if (thread != &self) wait_until_outside(*thread);
    cache.free_all();
    for (Thread* thread = engine.threads; cache.pairs_returns && thread != nullptr; thread = thread->next_thread)
        x86_64::forget_return_pads(*thread, engine.routines);
    if (cache.pairs_returns) engine.tuples.release_reserve();
    __atomic_store_n(&cache.flushing, false, __ATOMIC_RELEASE);
}

}  // namespace anyperf::engine

// threads.cpp: see threads.h.
#include "engine/threads.h"

#include <errno.h>
#include <time.h>

#include "engine/freestanding/kernel.h"
#include "engine/log.h"
#include "engine/signals/own_signals.h"
#include "engine/x86_64/signal_frame.h"

namespace anyperf::engine {

namespace {

constexpr unsigned kPatience = 200;  // looks without a pause; who runs leaves within a block
constexpr unsigned kAskEvery = 32;   // pauses between two requests to leave

bool is_inside(const Thread& thread) {
    return __atomic_load_n(&thread.inside, __ATOMIC_ACQUIRE);
}

void pause() {
    constexpr timespec kPause{0, 100'000};
    kernel_call(__NR_nanosleep, address_of(&kPause), 0);
}

/// Interrupts what waits in one instruction: a page of userfaultfd(2), a long REP. False where it is no more: a process
/// that shares this memory can be killed in the middle of a block.
bool ask_out(Thread& thread) {
    __atomic_store_n(&thread.asked_out, true, __ATOMIC_RELAXED);
    x86_64::SignalInfo info{};
    info.signo = kTrap;
    info.code = kAttentionCode;
    return kernel_call(__NR_rt_tgsigqueueinfo, static_cast<std::uint64_t>(thread.page.pid),
                       static_cast<std::uint64_t>(thread.tid), kTrap, address_of(&info)) != -ESRCH;
}

/// Returns when the thread is out of translated code. Nothing is linked and none can enter, so it leaves with its
/// block; whoever has not done so within moments is interrupted.
void wait_for(Thread& thread) {
    for (unsigned tries = 0; is_inside(thread); ++tries) {
        if (tries < kPatience) {
            kernel_call(__NR_sched_yield);
            continue;
        }
        if (tries % kAskEvery == 0 && !ask_out(thread)) __atomic_store_n(&thread.inside, false, __ATOMIC_RELAXED);
        pause();
    }
}

}  // namespace

void add_thread(Engine& engine, Thread& thread) {
    const Held held{engine.cache.lock};
    thread.next_thread = engine.threads;
    engine.threads = &thread;
}

void remove_thread(Thread& thread) {
    Engine& engine = *thread.engine;
    const Held held{engine.cache.lock};
    for (Thread** place = &engine.threads; *place != nullptr; place = &(*place)->next_thread) {
        if (*place != &thread) continue;
        *place = thread.next_thread;
        return;
    }
}

void only_thread(Engine& engine, Thread& thread) {
    engine.threads = &thread;
    thread.next_thread = nullptr;
}

void empty_cache(const Thread& self) {
    Engine& engine = *self.engine;
    Cache& cache = engine.cache;
    if (log_wants(engine, log::kBlocks | log::kCode)) {
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
        if (thread != &self) wait_for(*thread);
    cache.drop_all();
    __atomic_store_n(&cache.flushing, false, __ATOMIC_RELEASE);
}

}  // namespace anyperf::engine

// thread_memory.cpp: see thread_memory.h.
#include "engine/thread_memory.h"

#include <asm/prctl.h>
#include <sys/mman.h>

#include <new>

#include "engine/dispatch.h"
#include "engine/freestanding/pages.h"
#include "engine/signals/deliver.h"
#include "engine/threads.h"

namespace anyperf::engine {

namespace {

/// A thread and what only C++ looks at.
struct ThreadAndSignals {
    Thread thread;
    SignalState signals;
};

constexpr std::uint64_t kThreadBytes = (sizeof(ThreadAndSignals) + kPageBytes - 1) & ~(kPageBytes - 1);
constexpr std::uint64_t kGuard = kPageBytes;
constexpr std::uint64_t kAll = kThreadBytes + kGuard + kEngineStackBytes + kGuard + kSignalStackBytes;

bool open_up(std::uint64_t start, std::uint64_t bytes) {
    return !is_error(kernel_call(__NR_mprotect, start, bytes, PROT_READ | PROT_WRITE));
}

}  // namespace

Thread* new_thread(Engine& engine) {
    void* const memory = reserve_pages(kAll, PROT_NONE);
    if (memory == nullptr) return nullptr;
    const std::uint64_t start = address_of(memory);
    const std::uint64_t engine_stack = start + kThreadBytes + kGuard;
    const std::uint64_t signal_stack = engine_stack + kEngineStackBytes + kGuard;
    if (!open_up(start, kThreadBytes) || !open_up(engine_stack, kEngineStackBytes) ||
        !open_up(signal_stack, kSignalStackBytes)) {
        release_pages(memory, kAll);
        return nullptr;
    }
    auto* both = new (memory) ThreadAndSignals;
    Thread* const thread = &both->thread;
    thread->signals = &both->signals;
    thread->engine = &engine;
    thread->engine_stack = engine_stack + kEngineStackBytes;
    thread->signal_stack = signal_stack;
    thread->block_bytes = kAll;
    connect(*thread, engine.routines, dispatch, deliver_and_resume);
    add_thread(engine, *thread);
    return thread;
}

void free_thread(Thread& thread) {
    remove_thread(thread);
    // A vfork's child that has gone on to another program could not give it back.
    if (thread.exec_memory != nullptr) release_pages(thread.exec_memory, thread.exec_bytes);
    release_pages(&thread, thread.block_bytes);
}

void become(Thread& thread) {
    kernel_call(__NR_arch_prctl, ARCH_SET_GS, address_of(&thread));
    const x86_64::SignalStack stack{thread.signal_stack, 0, 0, kSignalStackBytes};
    kernel_call(__NR_sigaltstack, address_of(&stack), 0);
}

bool share_signal_actions(Thread& thread, Thread& parent) {
    thread.signals->actions = parent.signals->actions;
    return true;
}

bool new_signal_actions(Thread& thread) {
    void* const memory = reserve_pages(page_up(sizeof(SignalActions)));
    if (memory == nullptr) return false;
    thread.signals->actions = new (memory) SignalActions;
    return true;
}

bool own_signal_actions(Thread& thread, Thread& parent) {
    if (!new_signal_actions(thread)) return false;
    thread.signals->actions->copy_from(*parent.signals->actions);
    return true;
}

}  // namespace anyperf::engine

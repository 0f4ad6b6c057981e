#include "engine/threads/thread_memory.h"

#include <asm/prctl.h>
#include <sys/mman.h>

#include <new>

#include "engine/exact/area.h"
#include "engine/freestanding/pages.h"
#include "engine/hooks.h"
#include "engine/instrumentation/suspended_stacks.h"
#include "engine/signals/signal_state.h"
#include "engine/threads/exec_memory.h"
#include "engine/threads/thread_list.h"

namespace anyperf::engine {

using x86_64::kEngineStackBytes;
using x86_64::kSignalStackBytes;

namespace {

/// A Thread, and the state of it that translated code does not address.
struct ThreadAndState {
    Thread thread;
    SignalState signals;
    alignas(16) std::byte agent[hooks::kAgentStateBytes];  // the agent's, in pages of zeros
};

constexpr std::uint64_t kThreadBytes = (sizeof(ThreadAndState) + kPageBytes - 1) & ~(kPageBytes - 1);
constexpr std::uint64_t kGuard = kPageBytes;
constexpr std::uint64_t kAll = kThreadBytes + kGuard + kEngineStackBytes + kGuard + kSignalStackBytes;
static_assert(kAll + kGuard <= kOpenCallsOffset);
constexpr std::uint64_t kOpenCallsEnd = kOpenCallsOffset + kOpenCallsBytes + kGuard;
static_assert(kOpenCallsEnd <= kKnownCallsOffset);

/// In an exact run, with room for the thread's area of exact counts (begin_exact_thread()).
std::uint64_t mapping_bytes_of(const Engine& engine) {
    return engine.exact.on() ? kAreaOffset + run::exact::kUnitBytes : kOpenCallsEnd;
}

/// Makes a part of the mapping accessible; the rest are guard pages.
bool make_accessible(std::uint64_t start, std::uint64_t bytes) {
    return !is_error(kernel_call(__NR_mprotect, start, bytes, PROT_READ | PROT_WRITE));
}

}  // namespace

// One mapping: the Thread, a guard page, the engine's stack, a guard page, the stack of the signal handler. An overflow
// of either stack faults instead of writing over the Thread. The list of open calls follows at a distance that
// translated code knows.
Thread* new_thread(Engine& engine) {
    const std::uint64_t bytes = mapping_bytes_of(engine);
    void* const memory = reserve_pages(bytes, PROT_NONE);
    if (memory == nullptr) return nullptr;
    const std::uint64_t start = address_of(memory);
    const std::uint64_t engine_stack = start + kThreadBytes + kGuard;
    const std::uint64_t signal_stack = engine_stack + kEngineStackBytes + kGuard;
    if (!make_accessible(start, kThreadBytes) || !make_accessible(engine_stack, kEngineStackBytes) ||
        !make_accessible(signal_stack, kSignalStackBytes) ||
        (engine.exact.on() && !make_accessible(start + kKnownCallsOffset, kAreaOffset - kKnownCallsOffset))) {
        release_pages(memory, bytes);
        return nullptr;
    }
    auto* const state = new (memory) ThreadAndState;
    Thread* const thread = &state->thread;
    thread->signals = &state->signals;
    thread->readable.close();
    thread->records.top = RecordStream::kEmpty;
    thread->records.last_ran = RecordStream::kWhole;
    thread->agent = reinterpret_cast<agent::AgentState*>(state->agent);
    thread->engine = &engine;
    thread->engine_stack = engine_stack + kEngineStackBytes;
    thread->signal_stack = signal_stack;
    thread->mapping_bytes = bytes;
    set_routines(*thread, engine.routines);
    add_thread(engine, *thread);
    return thread;
}

void free_thread(Thread& thread) {
    remove_thread(thread);
    release_suspended_stacks(thread);
    // The child of a vfork allocated it for an execve, and could not free it after that succeeded.
    if (thread.exec_memory != nullptr) give_back_exec_memory(*thread.engine, thread.exec_memory);
    release_pages(&thread, thread.mapping_bytes);
}

// Translated code finds its Thread by %gs, so the application's gs is emulated (Thread::gs_base).
void bind_to_kernel_thread(Thread& thread) {
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

bool copy_signal_actions(Thread& thread, Thread& parent) {
    if (!new_signal_actions(thread)) return false;
    thread.signals->actions->copy_from(*parent.signals->actions);
    return true;
}

}  // namespace anyperf::engine

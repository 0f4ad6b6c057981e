#include "engine/signals/signal_descriptors.h"

#include <asm/unistd.h>

#include "engine/engine.h"
#include "engine/signals/interruptible.h"
#include "engine/signals/share_signals.h"
#include "engine/signals/signal_state.h"

namespace anyperf::engine {

using x86_64::SignalInfo;

namespace {

constexpr unsigned kBlock = 0;
constexpr unsigned kUnblock = 1;

void change_kernel_mask(unsigned how, std::uint64_t set) {
    kernel_call(__NR_rt_sigprocmask, how, address_of(&set), 0, sizeof set);
}

/// Makes the signal pending in the kernel, with its own code: the kernel permits any code in a signal to oneself
/// (do_rt_tgsigqueueinfo() in kernel/signal.c).
void send_to_self(const Thread& thread, const SignalInfo& info) {
    kernel_call(__NR_rt_tgsigqueueinfo, static_cast<std::uint64_t>(thread.page.pid),
                static_cast<std::uint64_t>(thread.tid), static_cast<std::uint64_t>(info.signo), address_of(&info));
}

void give(Thread& thread, std::uint64_t set) {
    change_kernel_mask(kBlock, set);
    SignalInfo info{};
    while (thread.engine->process_signals.take(set, thread.page.pid, info)) send_to_self(thread, info);
    QueuedSignal queued;
    const auto rank_of = [&](const QueuedSignal& signal) {
        return !signal.synchronous && (set & signal_bit(signal.info.signo)) != 0 ? 0 : -1;
    };
    while (thread.signals->queue.take(rank_of, queued)) send_to_self(thread, queued.info);
}

}  // namespace

SignalsInKernel::SignalsInKernel(Thread& thread, std::uint64_t which) : set_(kept_signals(thread) & which) {
    if (set_ != 0) give(thread, set_);
}

// The handler keeps what the call has left.
SignalsInKernel::~SignalsInKernel() {
    if (set_ != 0) change_kernel_mask(kUnblock, set_);
}

void begin_showing(Thread& thread) {
    SignalState& signals = *thread.signals;
    __atomic_store_n(&signals.shown, thread.engine->descriptor_signals & signals.mask, __ATOMIC_SEQ_CST);
}

void end_showing(Thread& thread) {
    __atomic_store_n(&thread.signals->shown, 0, __ATOMIC_SEQ_CST);
}

ShownSignals::ShownSignals(Thread& thread) : thread_(thread) {
    if (thread.engine->descriptor_signals == 0) [[likely]]
        return;
    begin_showing(thread);
    in_kernel_.emplace(thread, thread.signals->shown);
}

ShownSignals::~ShownSignals() {
    if (!in_kernel_) return;
    in_kernel_.reset();
    end_showing(thread_);
}

long interruptible_call_with_signals(Thread& thread, std::uint64_t number, const std::uint64_t (&argument)[6]) {
    begin_showing(thread);
    const SignalsInKernel signals{thread, thread.signals->shown};
    const long got = interruptible_call(thread, number, argument);
    if (got != kRestartSyscall) end_showing(thread);
    return got;
}

}  // namespace anyperf::engine

#include "engine/signals/share_signals.h"

#include <errno.h>

#include "engine/engine.h"
#include "engine/signals/signal_state.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

using x86_64::SignalInfo;

namespace {

/// Signals that another thread would take now. `seen`: those that the calling thread's own call sees by a descriptor.
std::uint64_t wanted_by(const Thread& thread, std::uint64_t seen) {
    const SignalState& signals = *thread.signals;
    return ~__atomic_load_n(&signals.mask, __ATOMIC_SEQ_CST) | __atomic_load_n(&signals.awaited, __ATOMIC_SEQ_CST) |
           (__atomic_load_n(&signals.shown, __ATOMIC_SEQ_CST) & ~seen);
}

/// Sends the signal to the thread with this code, and its own code in si_errno. False if the thread has ended.
bool send_as(std::int32_t code, const Thread& to, SignalInfo info) {
    info.error = info.code;
    info.code = code;
    return !is_error(kernel_call(__NR_rt_tgsigqueueinfo, static_cast<std::uint64_t>(to.page.pid),
                                 static_cast<std::uint64_t>(to.tid), static_cast<std::uint64_t>(info.signo),
                                 address_of(&info)));
}

/// Sends a kept signal to the other thread, if that wants one. The kernel refuses the code of kill(2) in a signal to
/// another thread (do_rt_tgsigqueueinfo() in kernel/signal.c).
void send_to(Engine& engine, const Thread& other, std::uint64_t seen) {
    SignalInfo info{};
    if (!engine.process_signals.take(wanted_by(other, seen), other.page.pid, info)) return;
    if (!send_as(run::kOtherProcessCode, other, info)) engine.process_signals.put(info, other.page.pid);
}

}  // namespace

bool has_process_signal(const Thread& thread) {
    return (thread.engine->process_signals.kept(thread.page.pid) & ~thread.signals->mask) != 0;
}

std::uint64_t kept_signals(const Thread& thread) {
    std::uint64_t kept = thread.engine->process_signals.kept(thread.page.pid);
    const SignalState& signals = *thread.signals;
    signals.queue.has([&](const QueuedSignal& queued) {
        if (!queued.synchronous) kept |= signal_bit(queued.info.signo);
        return false;
    });
    return kept & signals.mask & kEngineSignals;
}

// The kernel prefers the process's first thread (complete_signal() in kernel/signal.c); it is the last one in the list.
void share_process_signals(Thread& thread) {
    Engine& engine = *thread.engine;
    const std::int32_t pid = thread.page.pid;
    if (engine.process_signals.kept(pid) == 0) return;
    SignalState& signals = *thread.signals;
    SignalInfo info{};
    while (engine.process_signals.take(~signals.mask, pid, info)) {
        if (signals.queue.add({.info = info})) continue;
        engine.process_signals.put(info, pid);
        break;
    }
    const LockGuard held{engine.cache.lock};
    for (Thread* other = engine.threads; other != nullptr; other = other->next_thread)
        if (other != &thread && other->page.pid == pid && other->tid == pid) send_to(engine, *other, signals.shown);
    for (Thread* other = engine.threads; other != nullptr; other = other->next_thread)
        if (other != &thread && other->page.pid == pid) send_to(engine, *other, signals.shown);
}

long take_kept_signal(Thread& thread, std::uint64_t set, std::uint64_t out) {
    QueuedSignal taken;
    const auto rank_of = [&](const QueuedSignal& signal) {
        return signal.synchronous || (set & kEngineSignals & signal_bit(signal.info.signo)) == 0 ? -1 : 0;
    };
    if (!thread.signals->queue.take(rank_of, taken) &&
        !thread.engine->process_signals.take(set, thread.page.pid, taken.info))
        return 0;
    return out != 0 && !x86_64::guarded_write(out, taken.info) ? -EFAULT : long{taken.info.signo};
}

void give_kept_signals_to_kernel(Thread& thread) {
    constexpr unsigned kBlock = 0;
    kernel_call(__NR_rt_sigprocmask, kBlock, address_of(&kEngineSignals), 0, sizeof kEngineSignals);
    SignalInfo info{};
    while (thread.engine->process_signals.take(kEngineSignals, thread.page.pid, info))
        send_as(run::kOtherProcessCode, thread, info);
    const auto rank_of = [&](const QueuedSignal& signal) {
        const bool is_kept = !signal.synchronous && (kEngineSignals & signal_bit(signal.info.signo)) != 0;
        return is_kept && thread.signals->blocks(signal.info.signo) ? 0 : -1;
    };
    QueuedSignal queued;
    while (thread.signals->queue.take(rank_of, queued)) send_as(run::kToThreadCode, thread, queued.info);
}

void drop_pending_signals(Thread& thread) {
    thread.signals->queue.drop([](const QueuedSignal& signal) { return !signal.synchronous; });
    thread.engine->process_signals.clear();
}

}  // namespace anyperf::engine

#include "engine/signals/share_signals.h"

#include "engine/engine.h"
#include "engine/signals/signal_state.h"

namespace anyperf::engine {

using x86_64::SignalInfo;

namespace {

/// Blocks all signals of this thread, so that its handler does not change the queue meanwhile.
class QueueHeld {
  public:
    QueueHeld() {
        const std::uint64_t all = ~std::uint64_t{0};
        kernel_call(__NR_rt_sigprocmask, kSetMask, address_of(&all), address_of(&before_), sizeof all);
    }
    ~QueueHeld() { kernel_call(__NR_rt_sigprocmask, kSetMask, address_of(&before_), 0, sizeof before_); }
    QueueHeld(const QueueHeld&) = delete;
    QueueHeld& operator=(const QueueHeld&) = delete;

  private:
    static constexpr unsigned kSetMask = 2;
    std::uint64_t before_ = 0;
};

/// Signals that another thread would take now.
std::uint64_t wanted_by(const Thread& thread) {
    const SignalState& signals = *thread.signals;
    return ~__atomic_load_n(&signals.mask, __ATOMIC_SEQ_CST) | __atomic_load_n(&signals.awaited, __ATOMIC_SEQ_CST);
}

/// Sends a kept signal to the other thread, if that wants one.
void send_to(Engine& engine, const Thread& other) {
    SignalInfo info{};
    if (!engine.process_signals.take(wanted_by(other), other.page.pid, info)) return;
    const auto number = static_cast<std::uint64_t>(info.signo);
    // The kernel refuses the code of kill(2) in a signal to another thread (do_rt_tgsigqueueinfo() in kernel/signal.c).
    SignalInfo sent_info = info;
    sent_info.error = info.code;
    sent_info.code = run::kOtherProcessCode;
    const long sent = kernel_call(__NR_rt_tgsigqueueinfo, static_cast<std::uint64_t>(other.page.pid),
                                  static_cast<std::uint64_t>(other.tid), number, address_of(&sent_info));
    if (is_error(sent)) engine.process_signals.put(info, other.page.pid);  // the thread has ended
}

}  // namespace

bool has_process_signal(const Thread& thread) {
    return (thread.engine->process_signals.kept(thread.page.pid) & ~thread.signals->mask) != 0;
}

// The kernel prefers the process's first thread (complete_signal() in kernel/signal.c); it is the last one in the list.
void share_process_signals(Thread& thread) {
    Engine& engine = *thread.engine;
    const std::int32_t pid = thread.page.pid;
    if (engine.process_signals.kept(pid) == 0) return;
    SignalState& signals = *thread.signals;
    SignalInfo info{};
    const QueueHeld queue_held;
    while (signals.queued < SignalState::kQueue && engine.process_signals.take(~signals.mask, pid, info))
        signals.queue[signals.queued++] = {.info = info};
    const LockGuard held{engine.cache.lock};
    for (Thread* other = engine.threads; other != nullptr; other = other->next_thread)
        if (other != &thread && other->page.pid == pid && other->tid == pid) send_to(engine, *other);
    for (Thread* other = engine.threads; other != nullptr; other = other->next_thread)
        if (other != &thread && other->page.pid == pid) send_to(engine, *other);
}

bool take_pending_signal(Thread& thread, std::uint64_t set, SignalInfo& out) {
    SignalState& signals = *thread.signals;
    const QueueHeld held;
    for (unsigned i = 0; i < signals.queued; ++i) {
        if (signals.queue[i].synchronous || (set & signal_bit(signals.queue[i].info.signo)) == 0) continue;
        out = signals.queue[i].info;
        for (unsigned j = i + 1; j < signals.queued; ++j) signals.queue[j - 1] = signals.queue[j];
        --signals.queued;
        return true;
    }
    return thread.engine->process_signals.take(set, thread.page.pid, out);
}

void drop_pending_signals(Thread& thread) {
    SignalState& signals = *thread.signals;
    unsigned kept = 0;
    for (unsigned i = 0; i < signals.queued; ++i)
        if (signals.queue[i].synchronous) signals.queue[kept++] = signals.queue[i];
    signals.queued = kept;
    thread.engine->process_signals.clear();
}

}  // namespace anyperf::engine

// signals.cpp: calls about signals. The kernel's handlers are the engine's, on the engine's signal stack; the engine
// delivers a signal to the application later, at a point where its registers are exact (signals/deliver.h). So actions,
// alternate stacks and returns from handlers are kept by the engine. The kernel has the application's mask, except that
// the engine's own signals (kEngineSignals) are never blocked there: for these the engine queues what arrives while the
// application blocks them.
//
// Calls that wait with another mask (ppoll, sigsuspend and so on) must keep that mask in force until the signal that
// ends the wait has been delivered. Here the delivery happens after the call, so the old mask is restored by it.
#include <errno.h>

#include <tuple>

#include "engine/signals/deliver.h"
#include "engine/signals/install.h"
#include "engine/signals/interruptible.h"
#include "engine/signals/share_signals.h"
#include "engine/syscalls/handlers.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::handlers {

namespace {

constexpr std::uint64_t kSetBytes = 8;  // sizeof(sigset_t) in the kernel

bool is_signal(std::uint64_t number) {
    return number >= 1 && number <= static_cast<std::uint64_t>(kSignals);
}

/// Sets the application's mask. A queued signal that it no longer blocks is delivered when the thread leaves the
/// engine.
void set_mask(Thread& thread, std::uint64_t mask) {
    SignalState& signals = *thread.signals;
    signals.mask = mask & ~kNeverBlockedSignals;
    apply_mask(signals);
    if (has_deliverable(signals) || has_process_signal(thread)) thread.pending = 1;
}

/// Whether a signal with a handler waits in the engine that the thread does not block. The kernel does not know it, so
/// it would not end a call that waits.
bool has_kept_signal_with_handler(const Thread& thread) {
    const SignalState& signals = *thread.signals;
    const std::uint64_t wanted = signals.actions->caught() & ~signals.mask;
    return (thread.engine->process_signals.kept(thread.page.pid) & wanted) != 0 ||
           signals.queue.has([=](const QueuedSignal& kept) { return (signal_bit(kept.info.signo) & wanted) != 0; });
}

/// Makes a call that waits with another mask. `argument` is the call's pointer to `mask`; it is replaced by a pointer
/// to the mask for the kernel, which leaves the engine's signals unblocked. The caller has read `mask` already.
long wait_with_mask(Call& call, std::uint64_t mask, std::uint64_t& argument) {
    SignalState& signals = *call.thread.signals;
    // The kernel decides between a signal that the mask unblocks and a descriptor that is ready, so it gets them.
    begin_showing(call.thread);
    const SignalsInKernel in_kernel{call.thread, ~std::uint64_t{0}};
    signals.saved_mask = signals.mask;
    signals.mask = mask & ~kNeverBlockedSignals;
    begin_showing(call.thread);
    const std::uint64_t kernel_mask = signals.mask & (~kEngineSignals | in_kernel.set());
    argument = address_of(&kernel_mask);
    if (has_deliverable(signals) || has_process_signal(call.thread)) call.thread.pending = 1;
    const bool is_ended = has_kept_signal_with_handler(call.thread);
    long got = interruptible_call(call.thread, call.number, call.argument);
    if (got != kRestartSyscall) end_showing(call.thread);
    // As by a pending signal in the kernel: the call ends when its handler has run (ERESTARTNOHAND).
    if (got == kRestartSyscall && is_ended) got = -EINTR;
    if (call.thread.pending != 0)
        signals.restore_mask = true;  // the delivery restores the old one
    else
        signals.mask = signals.saved_mask;
    return got;
}

/// For calls with a pointer to a mask as argument `index` and its size as the next argument. Without a mask, or with a
/// size that the kernel refuses, the call is passed through.
/// A mask that the application gives is its whole mask for the wait. Signals that the engine needs are taken out of the
/// copy that the kernel gets; whether the application blocks them is decided when they are delivered.
long wait_with_mask_at(Call& call, unsigned index) {
    std::uint64_t mask = 0;
    if (call.argument[index] == 0 || call.argument[index + 1] != kSetBytes) return call.pass_to_kernel();
    if (!x86_64::guarded_read(call.argument[index], mask)) return -EFAULT;
    return wait_with_mask(call, mask, call.argument[index]);
}

}  // namespace

long rt_sigaction(Call& call) {
    const auto [number, wanted, old, bytes] =
        std::tuple{call.argument[0], call.argument[1], call.argument[2], call.argument[3]};
    SignalActions& actions = *call.thread.signals->actions;
    if (bytes != kSetBytes || !is_signal(number)) return -EINVAL;
    const int signal = static_cast<int>(number);
    SignalAction action;
    if (wanted != 0 && !x86_64::guarded_read(wanted, action)) return -EFAULT;
    if (wanted != 0 && (kNeverBlockedSignals & signal_bit(signal)) != 0) return -EINVAL;
    const SignalAction before = actions.get(signal);
    if (wanted != 0) {
        action.mask &= ~kNeverBlockedSignals;
        actions.set(signal, action);
        // The kernel needs to know whether the signal is ignored, has its default action, or has a handler.
        if (const long got = install(signal, action); is_error(got)) {
            actions.set(signal, before);
            return got;
        }
    }
    return old != 0 && !x86_64::guarded_write(old, before) ? -EFAULT : 0;
}

long rt_sigprocmask(Call& call) {
    const auto [how, wanted, old, bytes] =
        std::tuple{call.argument[0], call.argument[1], call.argument[2], call.argument[3]};
    SignalState& signals = *call.thread.signals;
    if (bytes != kSetBytes) return -EINVAL;
    const std::uint64_t before = signals.mask;
    std::uint64_t set = 0;
    if (wanted != 0) {
        if (!x86_64::guarded_read(wanted, set)) return -EFAULT;
        if (how > 2) return -EINVAL;
        // SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK
        set_mask(call.thread, how == 0 ? before | set : how == 1 ? before & ~set : set);
    }
    return old != 0 && !x86_64::guarded_write(old, before) ? -EFAULT : 0;
}

long rt_sigpending(Call& call) {
    const long got = call.pass_to_kernel();
    std::uint64_t pending = 0;
    const SignalState& signals = *call.thread.signals;
    const std::uint64_t kept = call.engine.process_signals.kept(call.thread.page.pid);
    if (is_error(got) || (signals.queue.empty() && kept == 0) || call.argument[1] != kSetBytes ||
        !x86_64::guarded_read(call.argument[0], pending))
        return got;
    pending |= kept;
    for (int signal = 1; signal <= kSignals; ++signal)
        if (signals.queue.has([&](const QueuedSignal& queued) { return queued.info.signo == signal; }))
            pending |= signal_bit(signal);
    return x86_64::guarded_write(call.argument[0], pending) ? 0 : -EFAULT;
}

// A signal of kEngineSignals that is pending is the engine's, not the kernel's.
long rt_sigtimedwait(Call& call) {
    const auto [wanted, out, bytes] = std::tuple{call.argument[0], call.argument[1], call.argument[3]};
    std::uint64_t set = 0;
    if (bytes != kSetBytes || !x86_64::guarded_read(wanted, set) || (set & kEngineSignals) == 0 ||
        call.engine.turns != nullptr)
        return timed_wait(call);
    SignalState& signals = *call.thread.signals;
    // This comes before the kept signals are looked at: a signal that is kept from now on is sent to this thread.
    __atomic_store_n(&signals.awaited, set & kEngineSignals, __ATOMIC_SEQ_CST);
    long got = take_kept_signal(call.thread, set, out);
    if (got == 0) got = timed_wait(call);
    x86_64::SignalInfo info{};
    // The kernel has answered with a signal that another thread has sent on.
    if (got > 0 && out != 0 && x86_64::guarded_read(out, info) &&
        (info.code == run::kOtherProcessCode || info.code == run::kToThreadCode)) {
        restore_code(info);
        x86_64::guarded_write(out, info);
    }
    __atomic_store_n(&signals.awaited, 0, __ATOMIC_SEQ_CST);
    return got;
}

// Such a signal looks like one to the process. The engine needs to know where the kernel delivers to the thread.
long rt_tgsigqueueinfo(Call& call) {
    x86_64::SignalInfo info{};
    if (static_cast<std::int32_t>(call.argument[0]) != call.thread.page.pid || !is_signal(call.argument[2]) ||
        (kEngineSignals & signal_bit(static_cast<int>(call.argument[2]))) == 0 ||
        !x86_64::guarded_read(call.argument[3], info) || info.code >= 0)
        return call.pass_to_kernel();
    info.error = info.code;
    info.code = run::kToThreadCode;
    call.argument[3] = address_of(&info);
    return call.pass_to_kernel();
}

// The kernel's mask of the descriptor may have kEngineSignals: they are sent while it is looked at.
long signalfd(Call& call) {
    std::uint64_t set = 0;
    const bool reads = call.argument[2] == kSetBytes && x86_64::guarded_read(call.argument[1], set);
    const long got = call.pass_to_kernel();
    if (reads && !is_error(got))
        __atomic_fetch_or(&call.engine.descriptor_signals, set & kEngineSignals, __ATOMIC_SEQ_CST);
    return got;
}

long rt_sigreturn(Call& call) {
    return_from_handler(call.thread);
}

long sigaltstack(Call& call) {
    constexpr std::int32_t kOnStack = 1;
    constexpr std::int32_t kDisable = 2;
    constexpr std::int32_t kAutoDisarm = INT32_MIN;
    SignalState& signals = *call.thread.signals;
    const bool on_it = signals.on_alternate_stack(call.thread.registers.r[x86_64::rsp]);
    x86_64::SignalStack wanted;
    if (call.argument[0] != 0 && !x86_64::guarded_read(call.argument[0], wanted)) return -EFAULT;
    x86_64::SignalStack before = signals.stack;
    if (call.argument[0] != 0) {
        if (on_it) return -EPERM;
        if (const long error = set_alternate_stack(signals, wanted); error != 0) return error;
    }
    const std::int32_t mode = before.size == 0 ? kDisable : on_it ? kOnStack : 0;
    before.flags = mode | (before.flags & kAutoDisarm);
    return call.argument[1] != 0 && !x86_64::guarded_write(call.argument[1], before) ? -EFAULT : 0;
}

long rt_sigsuspend(Call& call) {
    std::uint64_t mask = 0;
    if (call.argument[1] != kSetBytes) return -EINVAL;
    if (!x86_64::guarded_read(call.argument[0], mask)) return -EFAULT;
    return wait_with_mask(call, mask, call.argument[0]);
}

long ppoll(Call& call) {
    return wait_with_timeout(call, [](Call& waiting) { return wait_with_mask_at(waiting, 3); });
}

long epoll_pwait(Call& call) {
    return wait_with_timeout(call, [](Call& waiting) { return wait_with_mask_at(waiting, 4); });
}

namespace {

long wait_with_mask_of_select(Call& call) {
    // The kernel's sixth argument is a pointer to a pointer to the mask and its size (select(2)).
    struct MaskArgument {
        std::uint64_t mask;
        std::uint64_t bytes;
    } argument{};
    std::uint64_t mask = 0;
    if (call.argument[5] == 0) return call.pass_to_kernel();
    if (!x86_64::guarded_read(call.argument[5], argument)) return -EFAULT;
    if (argument.mask == 0 || argument.bytes != kSetBytes) return call.pass_to_kernel();
    if (!x86_64::guarded_read(argument.mask, mask)) return -EFAULT;
    call.argument[5] = address_of(&argument);
    return wait_with_mask(call, mask, argument.mask);
}

}  // namespace

long pselect6(Call& call) {
    return wait_with_timeout(call, wait_with_mask_of_select);
}

}  // namespace anyperf::engine::handlers

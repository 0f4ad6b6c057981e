// deliver.cpp: see deliver.h.
#include "engine/signals/deliver.h"

#include <asm/unistd.h>

#include "engine/attached.h"
#include "engine/block_at.h"
#include "engine/dispatch.h"
#include "engine/fail.h"
#include "engine/log.h"
#include "engine/signals/frame.h"
#include "engine/signals/own_signals.h"
#include "engine/thread_memory.h"
#include "engine/x86_64/guarded_copy.h"

namespace anyperf::engine {

using x86_64::SignalFrame;

namespace {

constexpr std::uint64_t kResetHand = 0x80000000;  // SA_RESETHAND
constexpr std::uint64_t kNoDefer = 0x40000000;    // SA_NODEFER
constexpr int kBySystem = 0x80;                   // SI_KERNEL

bool blocked(const SignalState& signals, int signal) {
    return (signals.mask & signal_bit(signal)) != 0;
}

/// Takes the first signal that may be delivered out of the queue.
bool take(SignalState& signals, QueuedSignal& out) {
    for (unsigned i = 0; i < signals.queued; ++i) {
        if (!signals.queue[i].synchronous && blocked(signals, signals.queue[i].info.signo)) continue;
        out = signals.queue[i];
        for (unsigned j = i + 1; j < signals.queued; ++j) signals.queue[j - 1] = signals.queue[j];
        --signals.queued;
        return true;
    }
    return false;
}

void log_signal(const Thread& thread, const QueuedSignal& signal, const SignalAction& action) {
    Line line = log_line(thread, "signal");
    line.decimal(signal.info.signo).text(" code ").decimal(signal.info.code).text(" at ").hex(thread.registers.rip);
    if (signal.synchronous) line.text(" address ").hex(signal.info.address);
    if (action.has_handler()) line.text(" handler ").hex(action.handler);
    log_write(thread, line);
}

void deliver(Thread& thread, const QueuedSignal& signal) {
    SignalState& signals = *thread.signals;
    const int number = signal.info.signo;
    const SignalAction action = signals.actions->get(number);
    // A fault that can't be handled kills, ignored or not (force_sig_info).
    if (log_wants(*thread.engine, log::kSignals)) [[unlikely]]
        log_signal(thread, signal, action);
    const bool handled = action.has_handler() && !(signal.synchronous && blocked(signals, number));
    if (!handled && (signal.synchronous || action.handler == 0)) die_by(number);
    if (!handled) return;
    const std::uint64_t saved = signals.restore_mask ? signals.saved_mask : signals.mask;
    if (!push_signal_frame(thread, signal, action, saved)) {
        if (number == kSegv) die_by(kSegv);
        QueuedSignal no_stack{};
        no_stack.info.signo = kSegv;
        no_stack.info.code = kBySystem;
        no_stack.synchronous = true;
        return deliver(thread, no_stack);
    }
    signals.restore_mask = false;
    signals.mask |= action.mask;
    if ((action.flags & kNoDefer) == 0) signals.mask |= signal_bit(number);
    if ((action.flags & kResetHand) != 0) {
        signals.actions->set(number, {});
        install(number, {});
    }
    reset_vector_state(signals);
}

[[gnu::naked]] void kernel_sigreturn(const void*) {
    asm("mov %rdi, %rsp\n\t"
        "mov $15, %eax\n\t"
        "syscall\n\t"
        "ud2");
}

}  // namespace

bool has_deliverable(const SignalState& signals) {
    for (unsigned i = 0; i < signals.queued; ++i)
        if (signals.queue[i].synchronous || !blocked(signals, signals.queue[i].info.signo)) return true;
    return false;
}

void apply_mask(const SignalState& signals) {
    constexpr unsigned kSetMask = 2;
    const std::uint64_t mask = signals.mask & ~kEngineSignals;
    kernel_call(__NR_rt_sigprocmask, kSetMask, address_of(&mask), 0, sizeof mask);
}

bool on_alternate_stack(const SignalState& signals, std::uint64_t sp) {
    return sp > signals.stack.sp && sp - signals.stack.sp <= signals.stack.size;
}

void die_by(int signal) {
    const std::uint64_t only = ~signal_bit(signal);
    constexpr unsigned kSetMask = 2;
    SignalAction by_default;
    kernel_call(__NR_rt_sigaction, static_cast<unsigned>(signal), address_of(&by_default), 0, sizeof(std::uint64_t));
    kernel_call(__NR_rt_sigprocmask, kSetMask, address_of(&only), 0, sizeof only);
    kernel_call(__NR_tgkill, static_cast<std::uint64_t>(kernel_call(__NR_getpid)),
                static_cast<std::uint64_t>(kernel_call(__NR_gettid)), static_cast<unsigned>(signal));
    for (;;) kernel_call(__NR_exit_group, kOwnFailure);
}

void deliver_and_resume(Thread& thread) {
    SignalState& signals = *thread.signals;
    stand_outside(thread);
    // First of all: what comes while this looks asks for another look, as a timer does that is set here and goes off.
    __atomic_store_n(&thread.pending, 0, __ATOMIC_SEQ_CST);
    thread.asked_out = false;
    thread.is_probing = false;
    // Whole before the look at `attention`, as behind a system call (syscalls/table.cpp).
    __atomic_store_n(&thread.page.in_kernel, 0, __ATOMIC_SEQ_CST);
    if (thread.page.watched != 0) attached::left_code(thread);
    const bool ran_alone = thread.alone == Alone::done;
    thread.alone = Alone::no;
    if (ran_alone) attached::has_run(thread);
    if (thread.page.attention != 0) attached::attend(thread);
    if (thread.alarmed) attached::alarmed(thread);
    QueuedSignal signal;
    while (take(signals, signal)) deliver(thread, signal);
    if (signals.restore_mask) {
        signals.mask = signals.saved_mask;
        signals.restore_mask = false;
    }
    if (has_deliverable(signals)) thread.pending = 1;
    apply_mask(signals);
    resume(thread);
}

void return_from_handler(Thread& thread) {
    // The kernel does it, from a frame of ours that differs from the application's in where it leads: back here, with
    // the application's registers kept in the thread. So masks and vector state are checked and set by who knows how.
    SignalFrame frame;
    SignalState& signals = *thread.signals;
    const std::uint64_t place = thread.registers.r[x86_64::rsp] - 8;
    if (!x86_64::guarded_copy(&frame, at_address<void>(place), sizeof frame)) die_by(kSegv);
    const x86_64::SignalContext& c = frame.user.context;
    thread.registers = {
        {c.rax, c.rcx, c.rdx, c.rbx, c.rsp, c.rbp, c.rsi, c.rdi, c.r8, c.r9, c.r10, c.r11, c.r12, c.r13, c.r14, c.r15},
        c.rip,
        c.flags & ~std::uint64_t{0x100}};
    signals.mask = frame.user.mask & ~(signal_bit(9) | signal_bit(19));
    signals.stack = frame.user.stack;
    frame.user.mask = ~kEngineSignals;
    frame.user.stack = {thread.signal_stack, 0, 0, kSignalStackBytes};
    frame.user.context.rip = reinterpret_cast<std::uint64_t>(&deliver_and_resume);
    frame.user.context.rsp = thread.engine_stack - 8;
    frame.user.context.rdi = address_of(&thread);
    frame.user.context.flags = 0x202;
    kernel_sigreturn(&frame.user);
    __builtin_unreachable();
}

}  // namespace anyperf::engine

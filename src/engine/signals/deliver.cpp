// deliver.cpp: the part of signal handling that runs between two instructions of the application. handler.cpp has
// queued the signals. Here they are delivered as the kernel's get_signal() and handle_signal() would.
//
// The kernel's mask cannot decide which signals to deliver: the engine's handler must see a fault at any time, so the
// kernel never blocks kEngineSignals (apply_mask()). Synchronous signals are marked in the queue and are delivered
// whatever the mask is, because a fault whose signal is blocked ends the process.
//
// The two edges:
// - A signal that arrives while this runs is queued and sets `pending` again, so the next safepoint finds it. Therefore
//   `pending` is cleared first.
// - A safepoint request that the broker makes meanwhile is not lost. The broker sets safepoint_requested before it
//   reads in_kernel, and deliver_and_resume() clears in_kernel before it reads safepoint_requested.
#include "engine/signals/deliver.h"

#include <asm/unistd.h>
#include <errno.h>

#include "engine/block_at.h"
#include "engine/dispatch.h"
#include "engine/fail.h"
#include "engine/hooks.h"
#include "engine/instrumentation/open_calls.h"
#include "engine/log.h"
#include "engine/modelling/modelling.h"
#include "engine/shown_ids.h"
#include "engine/signals/engine_signals.h"
#include "engine/signals/frame.h"
#include "engine/signals/install.h"
#include "engine/signals/share_signals.h"
#include "engine/tracee_stops.h"
#include "engine/trap_flag.h"
#include "engine/turn_end.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

using x86_64::SignalFrame;

namespace {

constexpr std::uint64_t kResetHand = 0x80000000;  // SA_RESETHAND
constexpr std::uint64_t kNoDefer = 0x40000000;    // SA_NODEFER
constexpr int kByKernel = 0x80;                   // SI_KERNEL

/// FIX_EFLAGS of the kernel (arch/x86/kernel/signal_64.c), the flags that a frame restores: AC, OF, DF, TF, SF, ZF, AF,
/// PF, CF and RF. TF is left out: it goes to Thread::traps_each (trap_flag.h).
constexpr std::uint64_t kRestoredFlags = 0x50cd5;
constexpr std::uint64_t kAlwaysSet = 0x202;

/// Takes a signal that may be delivered out of the queue: the first one, or with `by_number` the one with the lowest
/// number, after those that are synchronous (next_signal() in kernel/signal.c). False if none may.
bool take_deliverable(SignalState& signals, bool by_number, QueuedSignal& out) {
    const auto rank_of = [&](const QueuedSignal& signal) {
        if (!signal.synchronous && signals.blocks(signal.info.signo)) return -1;
        return by_number && !signal.synchronous ? signal.info.signo : 0;
    };
    return signals.queue.take(rank_of, out);
}

void log_signal(const Thread& thread, const QueuedSignal& signal, const SignalAction& action) {
    Line line = log_line(thread, "signal");
    line.decimal(signal.info.signo).text(" code ").decimal(signal.info.code).text(" at ").hex(thread.registers.rip);
    if (signal.synchronous) line.text(" address ").hex(signal.info.address);
    if (action.has_handler()) line.text(" handler ").hex(action.handler);
    log_write(thread, line);
}

/// Where the frame at `frame` has the interrupted address.
constexpr std::uint64_t interrupted_address_in(std::uint64_t frame) {
    static_assert(offsetof(x86_64::SignalContext, rip) == offsetof(x86_64::SignalContext, rsp) + 8);
    return frame + offsetof(SignalFrame, user) + offsetof(x86_64::UserContext, context) +
           offsetof(x86_64::SignalContext, rip);
}

/// Stops the process by the default action of the signal, which a tracer has passed on.
void stop_by(const Thread& thread, int signal) {
    constexpr unsigned kUnblock = 1;
    std::uint64_t before = 0;
    const std::uint64_t bit = signal_bit(signal);
    announce_passed_signal(thread);
    kernel_call(__NR_tgkill, static_cast<std::uint64_t>(kernel_call(__NR_getpid)),
                static_cast<std::uint64_t>(kernel_call(__NR_gettid)), static_cast<unsigned>(signal));
    kernel_call(__NR_rt_sigprocmask, kUnblock, address_of(&bit), address_of(&before), sizeof bit);
    constexpr unsigned kSetMask = 2;
    kernel_call(__NR_rt_sigprocmask, kSetMask, address_of(&before), 0, sizeof before);
}

/// Follows the default action of a signal that no instruction has raised. The kernel does so itself, except for signals
/// that a tracer has passed on.
void follow_default(const Thread& thread, int signal) {
    if ((kIgnoredByDefault & signal_bit(signal)) != 0) return;
    if ((kStoppingByDefault & signal_bit(signal)) != 0) return stop_by(thread, signal);
    announce_passed_signal(thread);
    die_by(signal);
}

/// Lets a tracer see and change the signal. False: it is not to be delivered now.
bool pass_tracer(Thread& thread, QueuedSignal& signal) {
    if (!stop_for_signal(thread, signal)) return false;
    if (signal.synchronous || !thread.signals->blocks(signal.info.signo)) return true;
    thread.signals->queue.add(signal);  // blocked: it waits (ptrace_signal())
    return false;
}

void deliver(Thread& thread, const QueuedSignal& signal);

/// The same for a signal that the tracer has seen.
void deliver_passed(Thread& thread, const QueuedSignal& signal) {
    SignalState& signals = *thread.signals;
    const int number = signal.info.signo;
    const SignalAction action = signals.actions->get(number);
    if (log_wants(*thread.engine, run::log::kSignals)) [[unlikely]]
        log_signal(thread, signal, action);
    if (log_wants(*thread.engine, run::log::kSchedule)) [[unlikely]]
        log_scheduled_signal(thread, number);
    // A fault whose signal is blocked or ignored ends the process (force_sig_info()).
    const bool handled = action.has_handler() && !(signal.synchronous && signals.blocks(number));
    if (!handled && signal.synchronous) {
        announce_passed_signal(thread);
        die_by(number);
    }
    if (!handled && action.handler == 0) follow_default(thread, number);
    if (!handled) return;
    end_step(thread);  // the frame does not show its flag
    QueuedSignal shown = signal;
    if (thread.engine->turns != nullptr) turns::show_sender(*thread.engine, shown.info);
    const std::uint64_t saved = signals.restore_mask ? signals.saved_mask : signals.mask;
    if (!push_signal_frame(thread, shown, action, saved)) {
        // Without room for the frame the signal becomes a SIGSEGV. If SIGSEGV has no room, either, the process ends
        // (force_sigsegv()).
        if (number == kSegv) die_by(kSegv);
        QueuedSignal no_stack{};
        no_stack.info.signo = kSegv;
        no_stack.info.code = kByKernel;
        no_stack.synchronous = true;
        return deliver(thread, no_stack);
    }
    note_signal_frame(thread, interrupted_address_in(thread.registers.r[x86_64::rsp]));
    signals.restore_mask = false;
    signals.mask |= action.mask;
    if ((action.flags & kNoDefer) == 0) signals.mask |= signal_bit(number);
    if ((action.flags & kResetHand) != 0) {
        SignalAction reset = action;  // the flags stay (get_signal)
        reset.handler = 0;
        signals.actions->set(number, reset);
        install(number, reset);
    }
    // A handler begins with the vector state of a new program; the frame has the interrupted one.
    reset_vector_state(thread);
    if (is_stepping(thread)) queue_trap(thread);  // a step into a handler ends there (signal_setup_done())
}

/// Follows the application's action for the signal: ends the process, drops the signal, or makes the registers those of
/// the handler's first instruction. A tracer sees the signal first.
void deliver(Thread& thread, const QueuedSignal& signal) {
    if (!is_traced(thread, run::trace::kAtSignals)) [[likely]]
        return deliver_passed(thread, signal);
    QueuedSignal seen = signal;
    if (pass_tracer(thread, seen)) deliver_passed(thread, seen);
}

/// Queues all signals that the kernel has and the application does not block. A signal that the engine has queued
/// blocks the others, so whether a second one is in the queue depends on when the thread woke up. With turns both are
/// to meet here.
void gather_pending(const SignalState& signals) {
    const std::uint64_t all = ~kEngineSignals;
    constexpr unsigned kSetMask = 2;
    for (int i = 0; i < kSignals; ++i) {
        std::uint64_t pending = 0;
        kernel_call(__NR_rt_sigpending, address_of(&pending), sizeof pending);
        if ((pending & ~signals.mask & ~kEngineSignals) == 0) break;
        apply_mask(signals);  // the handler queues one of them
    }
    kernel_call(__NR_rt_sigprocmask, kSetMask, address_of(&all), 0, sizeof all);
}

/// Queues the SIGSEGV of a general protection fault.
void queue_general_protection(SignalState& signals) {
    constexpr std::uint64_t kGeneralProtection = 13;
    QueuedSignal fault{};
    fault.info.signo = kSegv;
    fault.info.code = kByKernel;
    fault.trapno = kGeneralProtection;
    fault.synchronous = true;
    if (!signals.queue.add(fault)) die_by(kSegv);
}

/// rt_sigreturn(2) (number 15) with the frame at this address. The kernel takes the frame from rsp and does not return
/// here.
[[gnu::naked]] void kernel_sigreturn(const void*) {
    asm("mov %rdi, %rsp\n\t"
        "mov $15, %eax\n\t"
        "syscall\n\t"
        "ud2");
}

}  // namespace

void apply_mask(const SignalState& signals) {
    constexpr unsigned kSetMask = 2;
    const std::uint64_t mask = signals.mask & ~kEngineSignals;
    kernel_call(__NR_rt_sigprocmask, kSetMask, address_of(&mask), 0, sizeof mask);
}

long set_alternate_stack(SignalState& signals, x86_64::SignalStack wanted) {
    constexpr std::int32_t kOnStack = 1;
    constexpr std::int32_t kDisable = 2;
    constexpr std::int32_t kAutoDisarm = INT32_MIN;
    constexpr std::uint64_t kSmallest = 2048;  // MINSIGSTKSZ
    const std::int32_t mode = wanted.flags & ~kAutoDisarm;
    if (mode != 0 && mode != kOnStack && mode != kDisable) return -EINVAL;
    if (mode == kDisable)
        wanted.sp = wanted.size = 0;
    else if (wanted.size < kSmallest)
        return -ENOMEM;
    signals.stack = wanted;
    return 0;
}

// Takes the default action in the kernel, so that the parent sees the signal and a core is dumped. If that does not end
// the process, exit_group(2) does.
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
    drain_records(thread, thread.registers.rip);
    exit_cache(thread);
    // First of all: a signal or timer that comes during this delivery sets it again, for another delivery.
    __atomic_store_n(&thread.pending, 0, __ATOMIC_SEQ_CST);
    thread.exit_requested = false;
    thread.is_running_in_place = false;
    // Stored before `safepoint_requested` is read below: see the head of this file.
    __atomic_store_n(&thread.page.in_kernel, 0, __ATOMIC_SEQ_CST);
    if (thread.open_calls.full) make_room_for_calls(thread);
    if (thread.page.faults_are_counted != 0) hooks::after_translated_code(thread, thread.registers.rip);
    if (thread.page_faulted) hooks::at_page_fault(thread);
    // A signal has stopped the thread after an instruction that traps, before dispatch() saw its end.
    if (thread.registers.rip != thread.trapped_pc) after_trapped_instruction(thread);
    thread.trapped_pc = 0;
    const bool has_stepped = thread.single_step == SingleStep::done;
    thread.single_step = SingleStep::no;
    if (has_stepped) hooks::after_single_step(thread);
    if (thread.page.safepoint_requested != 0) hooks::serve_safepoint_request(thread);
    if (thread.alarmed) hooks::at_timer_expiry(thread);
    stop_if_interrupted(thread);
    if (turns::is_asked_to_share(thread)) turns::share_turn(thread);
    if (thread.engine->turns != nullptr) gather_pending(signals);
    share_process_signals(thread);
    QueuedSignal signal;
    while (take_deliverable(signals, thread.engine->turns != nullptr, signal)) deliver(thread, signal);
    if (signals.restore_mask) {
        signals.mask = signals.saved_mask;
        signals.restore_mask = false;
    }
    if (has_deliverable(signals) || has_process_signal(thread)) thread.pending = 1;
    apply_mask(signals);
    resume(thread);
}

/// Sets the frame's alternate stack if sigaltstack(2) would accept it. An error is ignored (restore_altstack()).
void restore_alternate_stack(SignalState& signals, const x86_64::SignalStack& stack, std::uint64_t sp) {
    if (!signals.on_alternate_stack(sp)) set_alternate_stack(signals, stack);
}

/// Whether the kernel could return to these segments (restore_sigcontext()). It sets the privilege bits; other
/// selectors than those of 64-bit programs fault in its iretq.
bool has_valid_segments(const x86_64::UserContext& user) {
    constexpr std::uint16_t kPrivilege = 3;
    const bool keeps_ss = (user.flags & x86_64::kContextStrictSs) != 0;
    return (user.context.cs | kPrivilege) == x86_64::kUserCs &&
           (!keeps_ss || (user.context.ss | kPrivilege) == x86_64::kUserSs);
}

void return_from_handler(Thread& thread) {
    // The kernel restores masks and vector state, because it checks them and knows their layout. It gets a copy of the
    // application's frame that returns to deliver_and_resume(); the application's registers are kept in the thread.
    SignalFrame frame;
    SignalState& signals = *thread.signals;
    const std::uint64_t place = thread.registers.r[x86_64::rsp] - 8;
    if (!x86_64::guarded_copy(&frame, at_address<void>(place), sizeof frame)) die_by(kSegv);
    leave_signal_frame(thread, interrupted_address_in(place));
    const x86_64::SignalContext& c = frame.user.context;
    thread.registers = {
        {c.rax, c.rcx, c.rdx, c.rbx, c.rsp, c.rbp, c.rsi, c.rdi, c.r8, c.r9, c.r10, c.r11, c.r12, c.r13, c.r14, c.r15},
        c.rip,
        (c.flags & kRestoredFlags) | kAlwaysSet};
    thread.traps_each = (c.flags & x86_64::kTrapFlag) != 0;
    signals.mask = frame.user.mask & ~kNeverBlockedSignals;
    restore_alternate_stack(signals, frame.user.stack, c.rsp);
    if (is_traced(thread, run::trace::kInCall)) [[unlikely]]
        stop_after_return(thread);
    if (!has_valid_segments(frame.user)) queue_general_protection(signals);
    frame.user.mask = ~kEngineSignals;
    frame.user.stack = {thread.signal_stack, 0, 0, x86_64::kSignalStackBytes};
    frame.user.context.rip = reinterpret_cast<std::uint64_t>(&deliver_and_resume);
    frame.user.context.rsp = thread.engine_stack - 8;
    frame.user.context.rdi = address_of(&thread);
    frame.user.context.flags = kAlwaysSet;
    frame.user.context.cs = x86_64::kUserCs;
    frame.user.context.ss = x86_64::kUserSs;
    kernel_sigreturn(&frame.user);
    __builtin_unreachable();
}

}  // namespace anyperf::engine

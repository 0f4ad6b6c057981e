// turn_calls.cpp: the table of the calls that threads with turns make in another way, and what these have in common.
#include "engine/syscalls/turn_calls.h"

#include <errno.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <array>

#include "engine/signals/deliver.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::turn_calls {

namespace {

struct TurnRow {
    std::uint16_t number;
    bool (*answer)(Call&, long&);  ///< null: the call is made as always
    void (*after)(Call&, long);    ///< null: nothing follows
};

constexpr std::uint16_t kFutexWaitv = 449;
constexpr std::uint16_t kFutexWake = 454;
constexpr std::uint16_t kFutexWait = 455;
constexpr std::uint16_t kFutexRequeue = 456;

constexpr std::array kRows{
    TurnRow{__NR_read, read_like, after_transfer},
    TurnRow{__NR_write, write_like, after_transfer},
    TurnRow{__NR_close, nullptr, after_close},
    TurnRow{__NR_poll, poll_like, nullptr},
    TurnRow{__NR_rt_sigprocmask, rt_sigprocmask, nullptr},
    TurnRow{__NR_ioctl, nullptr, after_descriptor_change},
    TurnRow{__NR_readv, read_like, after_transfer},
    TurnRow{__NR_writev, write_like, after_transfer},
    TurnRow{__NR_select, select_like, nullptr},
    TurnRow{__NR_sched_yield, sched_yield, nullptr},
    TurnRow{__NR_dup2, nullptr, after_descriptor_change},
    TurnRow{__NR_pause, pause, nullptr},
    TurnRow{__NR_nanosleep, nanosleep, nullptr},
    TurnRow{__NR_getitimer, getitimer, nullptr},
    TurnRow{__NR_alarm, alarm, nullptr},
    TurnRow{__NR_setitimer, setitimer, nullptr},
    TurnRow{__NR_sendfile, nullptr, after_descriptor_change},
    TurnRow{__NR_connect, nullptr, after_descriptor_change},
    TurnRow{__NR_accept, read_like, after_descriptor_change},
    TurnRow{__NR_sendto, write_like, after_transfer},
    TurnRow{__NR_recvfrom, read_like, after_transfer},
    TurnRow{__NR_sendmsg, write_like, after_message},
    TurnRow{__NR_recvmsg, read_like, after_message},
    TurnRow{__NR_shutdown, nullptr, after_descriptor_change},
    TurnRow{__NR_kill, send_signal, after_signal},
    TurnRow{__NR_fcntl, record_lock, after_descriptor_change},
    TurnRow{__NR_flock, file_lock, after_descriptor_change},
    TurnRow{__NR_rt_sigtimedwait, rt_sigtimedwait, nullptr},
    TurnRow{__NR_rt_sigqueueinfo, send_signal, after_signal},
    TurnRow{__NR_rt_sigsuspend, rt_sigsuspend, nullptr},
    TurnRow{__NR_tkill, send_signal, after_signal},
    TurnRow{__NR_futex, futex, nullptr},
    TurnRow{__NR_set_tid_address, set_tid_address, nullptr},
    TurnRow{__NR_timer_create, nullptr, after_timer_create},
    TurnRow{__NR_timer_settime, timer_settime, nullptr},
    TurnRow{__NR_timer_gettime, timer_gettime, nullptr},
    TurnRow{__NR_timer_delete, timer_delete, nullptr},
    TurnRow{__NR_clock_nanosleep, clock_nanosleep, nullptr},
    TurnRow{__NR_epoll_wait, epoll_like, nullptr},
    TurnRow{__NR_epoll_ctl, epoll_control, after_descriptor_change},
    TurnRow{__NR_tgkill, send_signal, after_signal},
    TurnRow{__NR_pselect6, select_like, nullptr},
    TurnRow{__NR_ppoll, poll_like, nullptr},
    TurnRow{__NR_set_robust_list, set_robust_list, nullptr},
    TurnRow{__NR_splice, read_like, after_descriptor_change},
    TurnRow{__NR_tee, read_like, after_descriptor_change},
    TurnRow{__NR_vmsplice, nullptr, after_transfer},
    TurnRow{__NR_epoll_pwait, epoll_like, nullptr},
    TurnRow{__NR_timerfd_create, nullptr, after_timerfd_create},
    TurnRow{__NR_timerfd_settime, timerfd_settime, after_descriptor_change},
    TurnRow{__NR_timerfd_gettime, timerfd_gettime, nullptr},
    TurnRow{__NR_accept4, read_like, after_descriptor_change},
    TurnRow{__NR_dup3, nullptr, after_descriptor_change},
    TurnRow{__NR_rt_tgsigqueueinfo, send_signal, after_signal},
    TurnRow{__NR_pidfd_send_signal, send_signal, after_signal},
    TurnRow{__NR_close_range, nullptr, after_descriptor_change},
    TurnRow{__NR_pidfd_getfd, nullptr, after_descriptor_taken},
    TurnRow{__NR_epoll_pwait2, epoll_like, nullptr},
    TurnRow{kFutexWaitv, futex_waitv, nullptr},
    TurnRow{kFutexWake, later_futex_call, nullptr},
    TurnRow{kFutexWait, later_futex_call, nullptr},
    TurnRow{kFutexRequeue, later_futex_call, nullptr},
};
static_assert(std::ranges::is_sorted(kRows, {}, &TurnRow::number));

/// By number: the index of its row, from 1 on; 0: it has none. Each call looks twice.
constexpr auto kIndexOf = [] {
    std::array<std::uint8_t, 512> table{};
    for (std::size_t i = 0; i < kRows.size(); ++i) table[kRows[i].number] = static_cast<std::uint8_t>(i + 1);
    return table;
}();

const TurnRow* row_of(std::uint64_t number) {
    const std::size_t index = number < kIndexOf.size() ? kIndexOf[number] : 0;
    return index != 0 ? &kRows[index - 1] : nullptr;
}

/// Which children a call waits for, as the arguments of waitid(2).
struct Awaited {
    std::uint64_t kind, id, options;
};

Awaited awaited_by(const Call& call) {
    if (call.number == __NR_waitid) return {call.argument[0], call.argument[1], call.argument[3]};
    const auto pid = static_cast<std::int32_t>(call.argument[0]);
    const std::uint64_t options = (call.argument[2] & UINT32_MAX) | WEXITED;
    if (pid > 0) return {P_PID, static_cast<std::uint64_t>(pid), options};
    if (pid == -1) return {P_ALL, 0, options};
    return {P_PGID, static_cast<std::uint64_t>(-std::int64_t{pid}), options};
}

/// Whether the kernel would not wait: a child's change of state can be reported, or there is no such child (ECHILD).
bool is_child_there(const Awaited& awaited) {
    siginfo_t about{};
    const long got =
        kernel_call(__NR_waitid, awaited.kind, awaited.id, address_of(&about), awaited.options | WNOHANG | WNOWAIT);
    return got != 0 || about.si_pid != 0;
}

void sleep_some(int milliseconds) {
    constexpr int kMost = 5;
    const timespec time{0, std::min(milliseconds, kMost) * 1'000'000L};
    kernel_call(__NR_nanosleep, address_of(&time), 0);
}

bool watch_children(void* context, int milliseconds) {
    const auto& awaited = *static_cast<const Awaited*>(context);
    if (!is_child_there(awaited)) sleep_some(milliseconds);
    return is_child_there(awaited);
}

turns::Closed only_children(Thread&, void*) {
    return {.kind = run::TurnClosed::child};
}

/// Whether the handler of the signal that will be delivered has SA_RESTART.
bool next_handler_restarts(const Thread& thread) {
    constexpr std::uint64_t kRestart = 0x10000000;
    const SignalState& signals = *thread.signals;
    const QueuedSignal* const next = signals.queue.first([&](const QueuedSignal& signal) {
        if (signal.synchronous) return 0;
        return signals.blocks(signal.info.signo) ? -1 : signal.info.signo;
    });
    return next == nullptr || (signals.actions->get(next->info.signo).flags & kRestart) != 0;
}

}  // namespace

Ended wait_or_interrupt(Thread& thread, const turns::Wait& wait, bool restarts, long& answer) {
    bool begun = false;
    switch (turns::wait(thread, wait, begun)) {
        case run::TurnEnd::woken: return Ended::woken;
        case run::TurnEnd::timed_out: return Ended::timed_out;
        case run::TurnEnd::interrupted: break;
    }
    const bool again = !begun || (restarts && next_handler_restarts(thread));
    thread.syscall_restarted = begun;
    answer = again ? kRestartSyscall : -EINTR;
    return Ended::interrupted;
}

OtherMask::OtherMask(Thread& thread, bool given, std::uint64_t mask) : thread_(thread), given_(given) {
    if (!given) return;
    SignalState& signals = *thread.signals;
    signals.saved_mask = signals.mask;
    signals.mask = mask & ~kNeverBlockedSignals;
    if (has_deliverable(signals)) thread.pending = 1;
    apply_mask(signals);
}

OtherMask::~OtherMask() {
    if (!given_) return;
    SignalState& signals = *thread_.signals;
    if (thread_.pending != 0) {
        signals.restore_mask = true;
        return;
    }
    signals.mask = signals.saved_mask;
    apply_mask(signals);
}

bool before_call(Call& call, long& answer) {
    if (call.number != __NR_wait4 && call.number != __NR_waitid) return false;
    Awaited awaited = awaited_by(call);
    if ((awaited.options & WNOHANG) != 0) return false;
    while (!is_child_there(awaited)) {
        const turns::Wait wait{
            .kind = run::TurnWait::child, .watch = watch_children, .context = &awaited, .closed = only_children};
        if (wait_or_interrupt(call.thread, wait, true, answer) == Ended::interrupted) return true;
    }
    return false;
}

bool answer_call(Call& call, long& answer) {
    const TurnRow* const row = row_of(call.number);
    return row != nullptr && row->answer != nullptr && row->answer(call, answer);
}

void after_call(Call& call, long answer) {
    const TurnRow* const row = row_of(call.number);
    if (row != nullptr && row->after != nullptr && !is_error(answer) && answer != kRestartSyscall)
        row->after(call, answer);
}

}  // namespace anyperf::engine::turn_calls

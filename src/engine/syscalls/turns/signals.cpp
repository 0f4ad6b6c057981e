// signals.cpp: signals that threads of the run send to each other, and waits for signals. The kernel sends the signals:
// it delivers one before the receiver's next turn begins (engine/turns/turns.h). The code here makes a waiting receiver
// ready, and ends a process that a signal ends within the turn of the sender.
#include <errno.h>
#include <fcntl.h>
#include <time.h>

#include <algorithm>
#include <string_view>

#include "engine/freestanding/text.h"
#include "engine/signals/deliver.h"
#include "engine/signals/share_signals.h"
#include "engine/syscalls/proc_path.h"
#include "engine/syscalls/turn_calls.h"
#include "engine/time/virtual_clock.h"
#include "engine/turns/sent_signals.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::turn_calls {

namespace {

constexpr std::uint64_t kSetBytes = 8;  // sizeof(sigset_t) in the kernel

/// The receiver of a signal, and the signal.
struct Sending {
    std::int32_t pid = 0;  ///< 0 and below: a group of processes, as for kill(2)
    std::int32_t tid = 0;  ///< 0: any thread
    int signal = 0;
};

std::int32_t process_of(const Engine& engine, std::int32_t tid) {
    const run::Turns& turns = *engine.turns;
    for (std::uint32_t i = 1; i <= turns.slots_used && i <= run::kTurnSlots; ++i)
        if (turns.slot[i].tid == tid && turns.slot[i].state != static_cast<std::uint32_t>(run::TurnState::free))
            return turns.slot[i].pid;
    return 0;
}

/// The process of a pidfd, by /proc; 0: it has ended, or the descriptor is something else.
std::int32_t process_of_descriptor(std::uint64_t fd) {
    constexpr std::string_view kKey = "Pid:\t";
    Line path;
    path.text("/proc/self/fdinfo/").decimal(static_cast<std::int32_t>(fd));
    char name[64] = {};
    std::ranges::copy(path.view().substr(0, sizeof name - 1), name);
    const long file = kernel_call(__NR_open, address_of(name), O_RDONLY | O_CLOEXEC);
    if (is_error(file)) return 0;
    char room[512];
    const long got = kernel_call(__NR_read, static_cast<std::uint64_t>(file), address_of(room), sizeof room);
    kernel_call(__NR_close, static_cast<std::uint64_t>(file));
    std::string_view text{room, static_cast<std::size_t>(std::max(got, 0l))};
    const std::size_t at = text.find(kKey);
    if (at == std::string_view::npos) return 0;
    text.remove_prefix(at + kKey.size());
    return decimal_number(text.substr(0, text.find('\n')));
}

Sending sending_of(const Call& call) {
    const auto number = [&](unsigned i) { return static_cast<std::int32_t>(call.argument[i]); };
    switch (call.number) {
        case __NR_tkill: return {process_of(call.engine, number(0)), number(0), number(1)};
        case __NR_tgkill:
        case __NR_rt_tgsigqueueinfo: return {number(0), number(1), number(2)};
        case __NR_pidfd_send_signal: {
            const std::int32_t pid = process_of_descriptor(call.argument[0]);
            return {pid, 0, pid == 0 ? 0 : number(1)};
        }
        default: return {number(0), 0, number(1)};
    }
}

/// Whether `pid` is among the processes that kill(2) with `group` (0 and below) means.
bool is_in_group(std::int32_t group, std::int32_t pid) {
    if (group == -1) return pid != kernel_call(__NR_getpid);
    const long wanted = group == 0 ? kernel_call(__NR_getpgid, 0) : -std::int64_t{group};
    return kernel_call(__NR_getpgid, static_cast<std::uint64_t>(pid)) == wanted;
}

/// Calls `function` with each process of the run that gets the signal.
template <class Function>
void for_each_process(const Call& call, const Sending& sending, Function function) {
    if (sending.signal < 1 || sending.signal > kSignals) return;
    if (sending.pid > 0) return function(sending.pid);
    const run::Turns& all = *call.engine.turns;
    for (std::uint32_t i = 1; i <= all.slots_used && i <= run::kTurnSlots; ++i) {
        const run::TurnSlot& slot = all.slot[i];
        if (slot.state != static_cast<std::uint32_t>(run::TurnState::free) && slot.tid == slot.pid &&
            is_in_group(sending.pid, slot.pid))
            function(slot.pid);
    }
}

/// The signals that end the process where they are not blocked.
std::uint64_t ending_by_default(const SignalState& signals) {
    return ~(signals.actions->caught() | signals.actions->ignored() | kIgnoredByDefault | kStoppingByDefault);
}

/// The calling process is about to be ended by a signal.
void end_by_signal(const Call& call) {
    for (Thread* thread = call.engine.threads; thread != nullptr; thread = thread->next_thread)
        release_robust_futexes(*thread);
    turns::end_process(call.thread);
}

/// Whether the signal will end the calling process.
bool ends_own_process(const Thread& thread, const Sending& sending) {
    const auto own = turns::slot_of(thread).pid;
    const bool is_meant = sending.pid > 0 ? sending.pid == own : sending.pid != -1 && is_in_group(sending.pid, own);
    if (!is_meant || sending.signal < 1 || sending.signal > kSignals) return false;
    const std::uint64_t bit = signal_bit(sending.signal);
    const SignalState& signals = *thread.signals;
    if (sending.signal == kKillSignal) return true;
    const bool by_default = (ending_by_default(signals) & bit) != 0;
    const bool open = (signals.mask & bit) == 0;
    return by_default && open && (sending.tid == 0 || sending.tid == thread.tid);
}

bool sleep_and_look(void*, int milliseconds) {
    const timespec time{0, milliseconds * 1'000'000L};
    kernel_call(__NR_nanosleep, address_of(&time), 0);
    return true;
}

bool only_sleep(void* context, int milliseconds) {
    sleep_and_look(context, milliseconds);
    return false;
}

/// Waits until a signal is delivered.
long wait_for_signal(Thread& thread) {
    long answer = 0;
    const turns::Wait wait{.kind = run::TurnWait::signal, .watch = only_sleep};
    while (wait_or_interrupt(thread, wait, false, answer) != Ended::interrupted) {
    }
    return -EINTR;
}

}  // namespace

bool pause(Call& call, long& answer) {
    answer = wait_for_signal(call.thread);
    return true;
}

bool rt_sigsuspend(Call& call, long& answer) {
    std::uint64_t mask = 0;
    answer = -EINVAL;
    if (call.argument[1] != kSetBytes) return true;
    answer = -EFAULT;
    if (!x86_64::guarded_copy(&mask, at_address<const void>(call.argument[0]), sizeof mask)) return true;
    const OtherMask other{call.thread, true, mask};
    answer = wait_for_signal(call.thread);
    return true;
}

bool rt_sigtimedwait(Call& call, long& answer) {
    std::uint64_t deadline = 0;
    if (!deadline_after(call.thread, call.argument[2], deadline, answer)) return true;
    std::uint64_t set = 0;
    if (call.argument[3] == kSetBytes) x86_64::guarded_read(call.argument[0], set);
    timespec none{};
    Call trial = call;
    trial.argument[2] = address_of(&none);
    const turns::Wait wait{.kind = run::TurnWait::signal, .deadline = deadline, .watch = sleep_and_look};
    for (bool over = false;;) {
        answer = take_kept_signal(call.thread, set, call.argument[1]);
        if (answer == 0) answer = trial.pass_to_kernel();
        if (answer != -EAGAIN || over) return true;
        const Ended ended = wait_or_interrupt(call.thread, wait, false, answer);
        if (ended == Ended::interrupted) return true;
        over = ended == Ended::timed_out;
    }
}

bool send_signal(Call& call, long&) {
    const Sending sending = sending_of(call);
    if (ends_own_process(call.thread, sending)) end_by_signal(call);
    for_each_process(call, sending,
                     [&](std::int32_t pid) { turns::expect_signal(call.thread, pid, sending.tid, sending.signal); });
    return false;
}

// raise(3) sends a signal while it is blocked.
bool rt_sigprocmask(Call& call, long&) {
    constexpr std::uint64_t kUnblock = 1;  // SIG_UNBLOCK
    constexpr std::uint64_t kSetMask = 2;  // SIG_SETMASK
    std::uint64_t set = 0;
    if ((call.argument[0] != kUnblock && call.argument[0] != kSetMask) || call.argument[1] == 0 ||
        !x86_64::guarded_copy(&set, at_address<const void>(call.argument[1]), sizeof set))
        return false;
    const SignalState& signals = *call.thread.signals;
    const std::uint64_t unblocked = signals.mask & (call.argument[0] == kUnblock ? set : ~set);
    if (unblocked == 0) return false;
    std::uint64_t pending = 0;
    kernel_call(__NR_rt_sigpending, address_of(&pending), kSetBytes);
    if ((pending & unblocked & ending_by_default(signals)) != 0) end_by_signal(call);
    return false;
}

void after_signal(Call& call, long) {
    const Sending sending = sending_of(call);
    for_each_process(call, sending,
                     [&](std::int32_t pid) { turns::note_signal(call.thread, pid, sending.tid, sending.signal); });
}

}  // namespace anyperf::engine::turn_calls

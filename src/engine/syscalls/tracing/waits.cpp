// waits.cpp: calls that wait for children, which may be tracees (ptrace(2)).
//
// The kernel stops a tracee for each signal, wherever it is, and also for signals that the engine uses itself:
// safepoint requests, alarms, single steps, writes to protected code. These calls hide all such stops: they continue
// the tracee with the signal and wait again. The tracee's engine makes stops of its own for the application's signals
// and at system calls (engine/tracee_stops.h), which are shown as the kernel's.
#include <asm/unistd.h>
#include <errno.h>

#include "engine/signals/engine_signals.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/tracing/tracee.h"
#include "engine/syscalls/usage.h"
#include "engine/threads/run_records.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::handlers {

namespace {

constexpr std::int32_t kChildTrapped = 4;      // CLD_TRAPPED
constexpr std::uint64_t kNoWait = 0x01000000;  // WNOWAIT: the stop is only looked at

/// Continues a tracee whose stop the tracer is not to see. False: the kernel refuses.
bool hide_stop(std::uint32_t& state, std::int32_t task, const x86_64::SignalInfo& info) {
    const std::uint32_t before = __atomic_fetch_and(&state, ~run::trace::kHasPassed, __ATOMIC_RELAXED);
    if ((before & run::trace::kHasPassed) != 0)
        return !is_error(trace_call(kContinue, task, 0, static_cast<std::uint64_t>(info.signo)));
    __atomic_fetch_or(&state, run::trace::kAtSignals, __ATOMIC_RELAXED);
    return pass_to_engine(task, info);
}

/// The signal of a stop that the tracee's engine has made.
std::int32_t signal_of_stop(const Engine& engine, std::int32_t task, const x86_64::SignalInfo& info) {
    TraceeStop stop;
    if (read_tracee(task, place_of_stop(info), &stop, sizeof stop)) {
        if (stop.where == TraceeStop::at_signal) return stop.info.signo;
        if (stop.where == TraceeStop::interrupted) return kTrap | kInterruptMark;
    }
    return stops_are_marked(engine, task) ? kTrap | kCallMark : kTrap;
}

/// What the tracer is to see of a tracee that has stopped for a signal: the number of the signal, with kCallMark at a
/// system call if the tracer wants that; 0 if the tracee has been continued, so that its engine stops it at a place
/// where its registers are known, or uses the signal itself. `only_look`: the tracee stays as it is.
std::int32_t shown_signal(const Engine& engine, std::int32_t task, std::int32_t signal, bool only_look = false) {
    x86_64::SignalInfo info{};
    if (!signal_of(task, info)) return signal;  // a stop of the whole process, for which the tracer has passed a signal
    if (is_tracee_stop(info)) return signal_of_stop(engine, task, info);
    std::uint32_t* const state = trace_state_of(engine, page_of_thread(engine, task));
    if (only_look || state == nullptr) return signal;
    return hide_stop(*state, task, info) ? 0 : signal;
}

/// The same of a stop with one of the kernel's events, which `code` has above the signal.
std::int32_t shown_event(const Engine& engine, std::int32_t task, std::int32_t code, bool only_look = false) {
    if (only_look || code != (kTrap | kInterruptMark) || !is_near_safepoint(engine, task)) return code;
    return go_on_to_safepoint(engine, task) ? 0 : code;
}

/// Whether the whole call is to be made again after a stop was hidden: a thread that takes turns gives its turn away
/// before it waits (turn_calls.h).
bool begins_again(const Call& call, std::uint64_t flags) {
    constexpr std::uint64_t kOnlyLook = 1;  // WNOHANG
    if (call.engine.turns == nullptr || (flags & kOnlyLook) != 0) return false;
    call.thread.syscall_restarted = true;
    return true;
}

/// Has the kernel wait for a child. In a deterministic run a thread that waits for one keeps no other from advancing
/// the clock, unless a timer may end its wait.
long wait_for_child(const Call& call, std::uint64_t flags) {
    constexpr std::uint64_t kOnlyLook = 1;  // WNOHANG
    if (!has_virtual_clock(call.engine) || (flags & kOnlyLook) != 0 || call.engine.has_real_timer)
        return call.pass_to_kernel();
    std::uint32_t& waits = call.thread.page.waits_for_child;
    __atomic_store_n(&waits, 1, __ATOMIC_RELEASE);
    const long got = call.pass_to_kernel();
    __atomic_store_n(&waits, 0, __ATOMIC_RELEASE);
    return got;
}

}  // namespace

long wait4(Call& call) {
    std::int32_t own_status = 0;
    if (call.argument[1] == 0) call.argument[1] = address_of(&own_status);
    for (;;) {
        const long got = wait_for_child(call, call.argument[2]);
        std::int32_t status = 0;
        if (got <= 0 || !x86_64::guarded_copy(&status, at_address<void>(call.argument[1]), sizeof status)) return got;
        const auto child = static_cast<std::int32_t>(got);
        const bool lives = (status & 0xff) == 0x7f || status == 0xffff;  // has stopped or continued
        correct_usage_of_child(call.thread, child, call.argument[3], !lives);
        if ((status & 0xff) != 0x7f) return got;
        // A ptrace event has its number from bit 16 on (ptrace(2)).
        const std::int32_t signal = status >> 16 == 0 ? shown_signal(call.engine, child, status >> 8)
                                                      : shown_event(call.engine, child, status >> 8);
        if (signal == 0 && begins_again(call, call.argument[2])) return kRestartSyscall;
        if (signal == 0) continue;
        status = signal << 8 | 0x7f;
        return x86_64::guarded_copy(at_address<void>(call.argument[1]), &status, sizeof status) ? got : -EFAULT;
    }
}

long waitid(Call& call) {
    // siginfo_t of SIGCHLD (sigaction(2)).
    struct ChildInfo {
        std::int32_t signo, error, code, padding, pid, uid, status;
    };
    constexpr std::int32_t kChildDumped = 3;  // CLD_DUMPED; CLD_EXITED and CLD_KILLED are 1 and 2
    alignas(8) char own_info[128] = {};
    if (call.argument[2] == 0) call.argument[2] = address_of(own_info);
    for (;;) {
        const long got = wait_for_child(call, call.argument[3]);
        ChildInfo info{};
        if (got != 0 || !x86_64::guarded_copy(&info, at_address<void>(call.argument[2]), sizeof info)) return got;
        const bool stays = (call.argument[3] & kNoWait) != 0;
        if (info.pid != 0)
            correct_usage_of_child(call.thread, info.pid, call.argument[4], !stays && info.code <= kChildDumped);
        if (info.code != kChildTrapped) return got;
        const std::int32_t signal = info.status >> 8 == 0 ? shown_signal(call.engine, info.pid, info.status, stays)
                                                          : shown_event(call.engine, info.pid, info.status, stays);
        if (signal == 0 && begins_again(call, call.argument[3])) return kRestartSyscall;
        if (signal == 0) continue;
        info.status = signal;
        return x86_64::guarded_copy(at_address<void>(call.argument[2]), &info, sizeof info) ? got : -EFAULT;
    }
}

}  // namespace anyperf::engine::handlers

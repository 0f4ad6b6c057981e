// tracing.cpp: ptrace(2) between processes of a run, and the calls that wait for a tracee.
//
// A tracer may stop, continue and wait for a tracee, and read its memory, which is the application's own in its place.
// Requests that show or change registers or code are refused with a message, because these are the translation's.
// Tracing a process outside of the run is passed through.
//
// The kernel also stops a tracee for signals that the engine uses itself: safepoint requests, alarms, single steps,
// writes to protected code. A native tracee has no such stops. So the wait calls hide them: they continue the tracee
// with the signal and wait again.
#include <asm/unistd.h>
#include <errno.h>

#include <algorithm>
#include <array>

#include "engine/freestanding/text.h"
#include "engine/signals/engine_signals.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/usage.h"
#include "engine/threads/run_records.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/cpu/signal_frame.h"

namespace anyperf::engine::handlers {

namespace {

/// A ptrace request that is passed through.
struct RequestRow {
    std::uint64_t request;
    std::string_view name;
};

constexpr std::uint64_t kTraceMe = 0;
constexpr std::uint64_t kContinue = 7;
constexpr std::uint64_t kGetSignalInfo = 0x4202;

/// Requests that have the same results under the engine as without it (ptrace(2)).
constexpr std::array kServed{
    RequestRow{kTraceMe, "PTRACE_TRACEME"},
    RequestRow{1, "PTRACE_PEEKTEXT"},
    RequestRow{2, "PTRACE_PEEKDATA"},
    RequestRow{kContinue, "PTRACE_CONT"},
    RequestRow{8, "PTRACE_KILL"},
    RequestRow{16, "PTRACE_ATTACH"},
    RequestRow{17, "PTRACE_DETACH"},
    RequestRow{0x4200, "PTRACE_SETOPTIONS"},
    RequestRow{0x4201, "PTRACE_GETEVENTMSG"},
    RequestRow{kGetSignalInfo, "PTRACE_GETSIGINFO"},
    RequestRow{0x4203, "PTRACE_SETSIGINFO"},
    RequestRow{0x4206, "PTRACE_SEIZE"},
    RequestRow{0x4207, "PTRACE_INTERRUPT"},
    RequestRow{0x4208, "PTRACE_LISTEN"},
    RequestRow{0x4209, "PTRACE_PEEKSIGINFO"},
};

constexpr std::int32_t kAccessError = 2;       // SEGV_ACCERR
constexpr std::int32_t kChildTrapped = 4;      // CLD_TRAPPED
constexpr std::uint64_t kNoWait = 0x01000000;  // WNOWAIT: the stop is only looked at

/// Whether the tracee's engine raised the signal or was sent it for its own purposes. A write to code that the engine
/// protects looks like a fault of the application's here (SEGV_ACCERR), so both stops are hidden; the tracer sees only
/// what the fault leads to.
bool is_engine_signal(const x86_64::SignalInfo& info) {
    return is_safepoint_request(info) || is_alarm(info) || (info.signo == kTrap && info.code == kTrapTrace) ||
           (info.signo == kSegv && info.code == kAccessError);
}

/// If the task has stopped for a signal of its engine, continues it with that signal and returns true.
bool continue_if_engine_stop(std::int32_t task, std::int32_t signal) {
    if (signal != kTrap && signal != kSegv) return false;
    x86_64::SignalInfo info{};
    const auto id = static_cast<std::uint64_t>(task);
    if (is_error(kernel_call(__NR_ptrace, kGetSignalInfo, id, 0, address_of(&info))) || !is_engine_signal(info))
        return false;
    return !is_error(kernel_call(__NR_ptrace, kContinue, id, 0, static_cast<std::uint64_t>(signal)));
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

/// Reports on standard error why a request is refused. Returns the negated errno.
long refuse(std::string_view what, long error) {
    Line{}.text("anyperf: ").text(what).write(2);
    Line{}.text("  cause: its registers and code are those of the translation").write(2);
    Line{}.text("  fix:   trace it without anyperf").write(2);
    return -error;
}

}  // namespace

long ptrace(Call& call) {
    const std::uint64_t request = call.argument[0];
    if (request == kTraceMe) {
        // A parent outside of the run, such as the broker, would not hide the engine's stops.
        const auto parent = static_cast<std::int32_t>(kernel_call(__NR_getppid));
        return is_thread_of_run(call.engine, parent) ? call.pass_to_kernel()
                                                     : refuse("cannot trace the first program of a run", EPERM);
    }
    const bool served = std::ranges::find(kServed, request, &RequestRow::request) != kServed.end();
    if (served || !is_thread_of_run(call.engine, static_cast<std::int32_t>(call.argument[1])))
        return call.pass_to_kernel();
    return refuse("cannot debug a program inside a run", EIO);
}

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
        // Stopped by a signal, and not by a ptrace event, which has its number from bit 16 on (ptrace(2)).
        const bool stopped = (status & 0xff) == 0x7f && status >> 16 == 0;
        if (!stopped || !continue_if_engine_stop(child, status >> 8)) return got;
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
        if (stays) return got;
        if (info.code != kChildTrapped || !continue_if_engine_stop(info.pid, info.status)) return got;
    }
}

}  // namespace anyperf::engine::handlers

// tracing.cpp: ptrace(2) between processes of a run. A tracer may stop, watch and wait for its tracee; what would show
// or change the registers and the code is refused, since they are the translation's. A tracee stops for the engine's
// own signals, too: whoever waits lets it go on, and waits again.
#include <asm/unistd.h>
#include <errno.h>

#include <algorithm>
#include <array>

#include "engine/freestanding/text.h"
#include "engine/ledger.h"
#include "engine/signals/own_signals.h"
#include "engine/syscalls/handlers.h"
#include "engine/x86_64/guarded_copy.h"
#include "engine/x86_64/signal_frame.h"

namespace anyperf::engine::handlers {

namespace {

struct RequestRow {
    std::uint64_t request;
    std::string_view name;
};

constexpr std::uint64_t kTraceMe = 0;
constexpr std::uint64_t kContinue = 7;
constexpr std::uint64_t kGetSignalInfo = 0x4202;

/// What is as true under the engine as without it (ptrace(2)). Memory is the application's own, in its place.
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

constexpr std::int32_t kAccessError = 2;          // SEGV_ACCERR
constexpr std::int32_t kChildTrapped = 4;         // CLD_TRAPPED
constexpr std::uint64_t kNoRemains = 0x01000000;  // WNOWAIT

/// A signal that the tracee's engine raises or is sent for its own ends. A write to code that it protects can't be told
/// from the application's own fault here: the tracer is not told of either, only of what comes of it.
bool is_of_engine(const x86_64::SignalInfo& info) {
    return is_attention(info) || is_alarm(info) || (info.signo == kTrap && info.code == kTrapTrace) ||
           (info.signo == kSegv && info.code == kAccessError);
}

/// If the task has stopped for a signal of its engine: lets it go on with that.
bool goes_on(std::int32_t task, std::int32_t signal) {
    if (signal != kTrap && signal != kSegv) return false;
    x86_64::SignalInfo info{};
    const auto id = static_cast<std::uint64_t>(task);
    if (is_error(kernel_call(__NR_ptrace, kGetSignalInfo, id, 0, address_of(&info))) || !is_of_engine(info))
        return false;
    return !is_error(kernel_call(__NR_ptrace, kContinue, id, 0, static_cast<std::uint64_t>(signal)));
}

long refuse(std::string_view what, long error) {
    Line{}.text("anyperf: ").text(what).write(2);
    Line{}.text("  cause: registers and code of a program of a run are those of its translation").write(2);
    Line{}.text("  fix:   trace it without anyperf").write(2);
    return -error;
}

}  // namespace

long ptrace(Call& call) {
    const std::uint64_t request = call.argument[0];
    if (request == kTraceMe) {
        // The run's host does not wait for a stop.
        const auto parent = static_cast<std::int32_t>(kernel_call(__NR_getppid));
        return is_thread_of_run(call.engine, parent) ? call.pass()
                                                     : refuse("the first program of a run can't be traced", EPERM);
    }
    const bool served = std::ranges::find(kServed, request, &RequestRow::request) != kServed.end();
    if (served || !is_thread_of_run(call.engine, static_cast<std::int32_t>(call.argument[1]))) return call.pass();
    return refuse("a debugger can't look into a program of a run", EIO);
}

long wait4(Call& call) {
    std::int32_t own_status = 0;
    if (call.argument[1] == 0) call.argument[1] = address_of(&own_status);
    for (;;) {
        const long got = call.pass();
        std::int32_t status = 0;
        if (got <= 0 || !x86_64::guarded_copy(&status, at_address<void>(call.argument[1]), sizeof status)) return got;
        const bool stopped = (status & 0xff) == 0x7f && status >> 16 == 0;
        if (!stopped || !goes_on(static_cast<std::int32_t>(got), status >> 8)) return got;
    }
}

long waitid(Call& call) {
    struct ChildInfo {
        std::int32_t signo, error, code, padding, pid, uid, status;
    };
    for (;;) {
        const long got = call.pass();
        ChildInfo info{};
        if (got != 0 || call.argument[2] == 0 || (call.argument[3] & kNoRemains) != 0 ||
            !x86_64::guarded_copy(&info, at_address<void>(call.argument[2]), sizeof info))
            return got;
        if (info.code != kChildTrapped || !goes_on(info.pid, info.status)) return got;
    }
}

}  // namespace anyperf::engine::handlers

// requests.cpp: ptrace(2) between processes of a run. Tracing a process outside of the run is passed through.
//
// A tracer may stop, continue and wait for a tracee, and read its memory, which is the application's own in its place.
// At a stop at a system call or for a signal it may also see and change registers and memory, and step: there the
// tracee's engine has stopped it and knows its registers exactly (engine/tracee_stops.h). At the
// kernel's own stops (PTRACE_EVENT_…) registers may be read, where they are known. What else would show or change the
// translation is refused with a message.
#include <asm/unistd.h>
#include <errno.h>

#include <algorithm>
#include <array>

#include "engine/freestanding/text.h"
#include "engine/syscalls/handlers.h"
#include "engine/syscalls/tracing/tracee.h"
#include "engine/threads/run_records.h"

namespace anyperf::engine::handlers {

namespace {

/// Requests that the kernel answers under the engine as it does without it.
constexpr auto kPassed =
    std::to_array<std::uint64_t>({kPeekText, kPeekData, kKill, kAttach, kSeize, kSetOptions, kGetEventMessage,
                                  kGetSignalInfo, kInterrupt, kListen, kSetSignalInfo, kPeekSignalInfo});

/// The same, of a tracee that its engine has stopped: its vector registers are the application's, since the engine uses
/// none.
constexpr auto kPassedAtStops = std::to_array<std::uint64_t>(
    {kPokeText, kPokeData, kGetFloatRegisters, kSetFloatRegisters, kGetRegisterSet, kSetRegisterSet});

constexpr std::uint64_t kMarkStops = 1;  // PTRACE_O_TRACESYSGOOD
constexpr std::uint64_t kLastSignal = 64;

/// Reports on standard error why a request is refused. Returns the negated errno.
long refuse(std::string_view what, long error) {
    Line{}.text("anyperf: ").text(what).write(2);
    Line{}.text("  cause: its registers and code are those of the translation").write(2);
    Line{}.text("  fix:   trace it without anyperf").write(2);
    return -error;
}

void change(std::uint32_t& state, std::uint32_t bits, bool on) {
    on ? __atomic_fetch_or(&state, bits, __ATOMIC_RELAXED) : __atomic_fetch_and(&state, ~bits, __ATOMIC_RELAXED);
}

long be_traced(Call& call) {
    // A parent outside of the run, such as the broker, would not hide the engine's stops.
    const auto parent = static_cast<std::int32_t>(kernel_call(__NR_getppid));
    if (!is_thread_of_run(call.engine, parent)) return refuse("cannot trace the first program of a run", EPERM);
    const long answer = call.pass_to_kernel();
    if (answer == 0) forget_tracer(call.thread);
    return answer;
}

/// Whether the tracee has stopped in the middle of a system call, for PTRACE_EVENT_FORK, VFORK, CLONE, EXEC or
/// VFORK_DONE. Their numbers are 1 to 5, in the second byte of the code (ptrace(2)).
bool is_in_call(const x86_64::SignalInfo& info) {
    const std::int32_t event = info.code >> 8;
    return info.signo == kTrap && (info.code & 0xff) == kTrap && event >= 1 && event <= 5;
}

/// Called when the tracer continues a tracee that its engine has stopped. Marks the stop as seen. At a system call a
/// signal that the tracer passes is sent to the tracee, as the kernel does (ptrace_report_syscall()).
long leave_stop(const x86_64::SignalInfo& info, std::int32_t task, std::uint64_t signal, std::uint64_t request) {
    if (signal > kLastSignal) return -EIO;
    TraceeStop stop{};
    const std::uint64_t place = place_of_stop(info);
    constexpr std::size_t kBytes = offsetof(TraceeStop, registers);
    if (!read_tracee(task, place, &stop, kBytes)) return -EIO;
    stop.seen = 1;
    stop.steps = request == kSingleStep ? 1 : 0;
    // A debugger takes its breakpoints out before it lets a tracee go, also one that it has not looked at.
    if (request == kDetach) stop.debugged = 1;
    if (stop.where == TraceeStop::at_signal) stop.signal = static_cast<std::uint32_t>(signal);
    if (!write_tracee(task, place, &stop, kBytes)) return -EIO;
    if (signal != 0 && stop.is_at_call()) kernel_call(__NR_tkill, static_cast<std::uint64_t>(task), signal);
    return 0;
}

/// PTRACE_CONT, PTRACE_SYSCALL, PTRACE_SINGLESTEP, PTRACE_DETACH. For the kernel all but the last are PTRACE_CONT.
long go_on(const Call& call, std::int32_t task, std::uint32_t& state) {
    const std::uint64_t request = call.argument[0];
    const bool at_calls = request == kStopAtCalls;
    const bool steps = request == kSingleStep;
    std::uint64_t signal = call.argument[3];
    const std::uint32_t before = state;
    x86_64::SignalInfo info{};
    const bool known = signal_of(task, info);
    const bool at_call = known && is_tracee_stop(info);
    if (steps && !at_call) return refuse("cannot step a program inside a run from this stop", EIO);
    if (at_call) {
        if (const long error = leave_stop(info, task, signal, request); error != 0) return error;
        signal = 0;
    }
    change(state, run::trace::kAtCalls, at_calls);
    if (known && is_in_call(info)) change(state, run::trace::kInCall, at_calls);
    if (at_call && !at_calls) change(state, run::trace::kInCall, false);
    if (request == kDetach) change(state, ~std::uint32_t{0}, false);
    const long answer =
        trace_call(at_calls || steps ? kContinue : static_cast<TraceRequest>(request), task, call.argument[2], signal);
    if (is_error(answer)) __atomic_store_n(&state, before, __ATOMIC_RELAXED);
    return answer;
}

/// A request that the kernel answers. Notes the options of the trace.
long pass(const Call& call, std::uint32_t& state) {
    const std::uint64_t request = call.argument[0];
    const long answer = call.pass_to_kernel();
    if (answer != 0) return answer;
    if (request == kAttach || request == kSeize) change(state, ~std::uint32_t{0}, false);
    if (request == kSeize || request == kSetOptions)
        change(state, run::trace::kMarked, (call.argument[3] & kMarkStops) != 0);
    return 0;
}

}  // namespace

long ptrace(Call& call) {
    const std::uint64_t request = call.argument[0];
    if (request == kTraceMe) return be_traced(call);
    const auto task = static_cast<std::int32_t>(call.argument[1]);
    std::uint32_t* const state = trace_state_of(call.engine, page_of_thread(call.engine, task));
    if (state == nullptr) return call.pass_to_kernel();
    if (request == kContinue || request == kStopAtCalls || request == kSingleStep || request == kDetach)
        return go_on(call, task, *state);
    long answer = 0;
    if (answer_at_stop(call.engine, request, task, call.argument[2], call.argument[3], answer)) return answer;
    if (std::ranges::find(kPassed, request) != kPassed.end()) return pass(call, *state);
    x86_64::SignalInfo info{};
    if (std::ranges::find(kPassedAtStops, request) != kPassedAtStops.end() && signal_of(task, info) &&
        is_tracee_stop(info))
        return call.pass_to_kernel();
    return refuse("cannot debug a program inside a run", EIO);
}

}  // namespace anyperf::engine::handlers

// traced_syscall.cpp: the reports before and after a system call. Each begins with what the scheduler may have done
// since the last report, because a migration may change which events count what follows.
//
// A call that a signal interrupts may begin more than once. If the kernel had not begun it, programs must see one entry
// and one return: AgentState::reported_call remembers the call that was reported and not made, by its return address.
// If the kernel had begun it, the kernel's own tracepoint would have fired, so this reports a return with -ERESTARTSYS.
#include "agent/syscalls/traced_syscall.h"

#include <utility>

#include "agent/agent_state.h"
#include "agent/broker_request.h"
#include "agent/lifecycle/context_switches.h"
#include "agent/sampling/active_events.h"
#include "agent/sampling/occurrences.h"
#include "agent/sampling/overflow_budget.h"
#include "agent/sampling/sampling.h"
#include "agent/sampling/update_active_events.h"

namespace anyperf::agent {

using engine::Call;
using OccurrenceKind = subsystem::Source::OccurrenceKind;

namespace {

constexpr long kRestart = -512;  ///< -ERESTARTSYS: what a tracepoint in the kernel sees where a signal ends a wait

/// Reports a move of the thread to another CPU, which may change what it is to count, and samples the switches and
/// migrations since the last report. They happen in the kernel, mostly while a system call waits.
void check_scheduling(Thread& thread) {
    report_if_moved(thread);
    if (thread.page.safepoint_requested != 0) update_active_events(thread);
    if ((thread.page.traced & kSampleSwitches) == 0) return;
    for_each_sampling_event(thread, [&](EventPage& event, EventIndex index) {
        if (samples_switches(event)) handle_overflows(thread, event, index, {{}, true});
    });
}

}  // namespace

void report_syscall_entry(Call& call) {
    check_scheduling(call.thread);
    if ((call.thread.page.traced & kTrackSwitches) != 0) report_new_switches(call.thread, false);
    // A call that is restarted before it reached the kernel was reported the first time.
    const bool was_reported = std::exchange(call.thread.agent->reported_call, 0) == call.next_rip;
    if (!was_reported && is_traced(call.thread, OccurrenceKind::syscall_entered))
        report_occurrence(call.thread, {.what = OccurrenceKind::syscall_entered,
                                        .call = static_cast<std::uint32_t>(call.number),
                                        .arguments = call.argument});
}

void report_syscall_return(Call& call, long answer) {
    check_scheduling(call.thread);
    if ((call.thread.page.traced & kTrackSwitches) != 0) report_new_switches(call.thread, true);
    if ((call.thread.page.traced & kCheckAfterSyscall) != 0) check_after_syscall(call.thread);
    if (answer == engine::kRestartSyscall && !call.thread.syscall_restarted) {
        call.thread.agent->reported_call = call.next_rip;
        return;
    }
    if (!is_traced(call.thread, OccurrenceKind::syscall_returned)) return;
    const long reported = answer == engine::kRestartSyscall ? kRestart : answer;
    // A sample at the return has the result in its registers, as a sample of the kernel would.
    call.thread.registers.r[engine::x86_64::rax] = static_cast<std::uint64_t>(reported);
    report_occurrence(call.thread, {.what = OccurrenceKind::syscall_returned,
                                    .call = static_cast<std::uint32_t>(call.number),
                                    .answer = reported});
}

}  // namespace anyperf::agent

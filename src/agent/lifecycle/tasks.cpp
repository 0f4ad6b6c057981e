// tasks.cpp: the order of reports about a new task.
//
// The kernel creates a child's events inside fork, before either task returns (perf_event_init_task()). Here the parent
// asks the broker before the clone (announce_child()); the broker prepares the child's events for the thread page that
// the child will have. Parent and child then run at the same time, and either may report first (requests `cloned` and
// `begin`). The first report registers the child. A clone that fails is reported, so that what was prepared is undone.
#include "agent/lifecycle/tasks.h"

#include <algorithm>

#include "agent/broker_request.h"
#include "agent/faults/fault_traps.h"
#include "agent/lifecycle/context_switches.h"
#include "agent/lifecycle/side_band.h"
#include "agent/probes/probes.h"
#include "agent/python/python_functions.h"
#include "agent/sampling/clock_sampling.h"
#include "agent/sampling/occurrences.h"
#include "agent/sampling/overflow_budget.h"
#include "agent/sampling/update_active_events.h"
#include "agent/syscalls/descriptors.h"
#include "agent/syscalls/event_syscalls.h"
#include "engine/instrumentation/instrumentation.h"
#include "engine/modelling/modelling.h"
#include "engine/shown_ids.h"

namespace anyperf::agent {

using engine::Call;
using engine::is_error;
using engine::Thread;
using OccurrenceKind = subsystem::Source::OccurrenceKind;

namespace {

/// Reports that the system call that made the task returns 0 in the new task, too.
void report_syscall_return(Thread& thread, std::uint32_t call) {
    if (is_traced(thread, OccurrenceKind::syscall_returned))
        report_occurrence(thread, {.what = OccurrenceKind::syscall_returned, .call = call});
}

}  // namespace

// The first code of the agent in a process that a fork or an exec has made. After a fork the child has a copy of all
// that the parent had, and first drops what belongs to the parent (mailbox, timer, traps, rings, locks). After an exec
// the agent has nothing, and finds the descriptors that survived again.
void begin_process(Thread& thread, bool executed) {
    if (!executed) drop_mailbox(thread);  // the child of a fork has a page of its own, and so another mailbox
    thread.agent->alarm = 0;              // timers are not inherited
    thread.alarmed = false;
    set_fault_traps(thread, false);  // the child of a fork has not inherited them
    begin_pace(thread);
    if (!executed) {
        thread.debug = {};  // not inherited, either
        engine::reset_instrumentation(thread);
    }
    if (!are_events_used(*thread.engine) || ensure_process(*thread.engine) == nullptr) return;
    if (executed) {
        find_descriptors(thread);
        BrokerRequest{thread, run::RequestKind::executed}.payload(thread.page.comm, sizeof thread.page.comm).send();
        report_image(thread);
    } else {
        engine::reset_modelling(thread);
        reset_probes_after_fork(thread);
        thread.agent->reports_switches = false;
        thread.engine->agent->lock.reset();  // the holder may have been a thread that only the parent has
        keep_python_code(*thread.engine->agent);
        forget_inherited_rings(*thread.engine->agent);
        BrokerRequest{thread, run::RequestKind::begin}.argument(0, thread.inheritance).argument(1, 1).send();
    }
    update_active_events(thread);
    if (!executed) return report_first_switch_in(thread);
    if (is_traced(thread, OccurrenceKind::program_executed))
        report_occurrence(thread, {.what = OccurrenceKind::program_executed});
    report_syscall_return(thread, __NR_execve);
}

void announce_exec(Thread& thread, std::string_view name) {
    if (!are_events_used(*thread.engine) || thread.tid != thread.page.pid)
        return;  // after an exec by another thread, that thread becomes the process's first one
    char comm[sizeof thread.page.comm] = {};
    const std::size_t length = std::min(name.size(), sizeof comm - 1);
    std::ranges::copy_n(name.begin(), static_cast<std::ptrdiff_t>(length), comm);
    BrokerRequest{thread, run::RequestKind::executing}.payload(comm, length == 0 ? 0 : sizeof comm).send();
}

void begin_thread(Thread& thread) {
    begin_pace(thread);
    if (!are_events_used(*thread.engine)) return;
    const bool own_process = thread.owned_by_parent;  // the child of a vfork
    BrokerRequest{thread, run::RequestKind::begin}
        .argument(0, thread.inheritance)
        .argument(1, own_process ? 1 : 0)
        .send();
    update_active_events(thread);
    report_first_switch_in(thread);
    report_syscall_return(thread, thread.creating_syscall);
}

// Called before the clone, so that the child's events exist when it runs its first instruction.
std::uint32_t announce_child(Call& call, std::uint64_t clone_flags, std::uint32_t page) {
    note_clone(call.thread, clone_flags);
    if (!are_events_used(call.engine)) return 0;
    const long number =
        BrokerRequest{call.thread, run::RequestKind::before_clone}.argument(0, clone_flags).argument(1, page).send();
    return number > 0 ? static_cast<std::uint32_t>(number) : 0;
}

void report_child(Call& call, std::uint32_t inheritance, long tid) {
    if (!is_error(tid) && is_traced(call.thread, OccurrenceKind::process_forked)) {
        const std::int32_t child = engine::turns::shown_of(call.engine, static_cast<std::int32_t>(tid));
        report_occurrence(call.thread, {.what = OccurrenceKind::process_forked, .child = child});
    }
    if (inheritance == 0) return;
    const run::RequestKind kind = is_error(tid) ? run::RequestKind::clone_failed : run::RequestKind::cloned;
    BrokerRequest{call.thread, kind}.argument(0, inheritance).argument(1, static_cast<std::uint64_t>(tid)).send();
}

void end_thread(Thread& thread, bool whole_process) {
    if (is_traced(thread, OccurrenceKind::task_ended))
        report_occurrence(thread, {.what = OccurrenceKind::task_ended, .whole_process = whole_process});
    if (are_events_used(*thread.engine))
        BrokerRequest{thread, run::RequestKind::end}.argument(0, whole_process ? 1 : 0).send();
    // When the whole process ends, the kernel frees its memory.
    if (!whole_process) engine::clear_instrumentation(thread);
    if (!whole_process) engine::end_modelling(thread);
    if (!whole_process) drop_probes(thread);
    drop_alarm(thread);
    set_fault_traps(thread, false);
    drop_mailbox(thread);
}

void discard_thread(Thread& thread) {
    set_fault_traps(thread, false);
    engine::end_modelling(thread);
    drop_probes(thread);
    drop_mailbox(thread);
}

}  // namespace anyperf::agent

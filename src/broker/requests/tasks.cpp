// tasks.cpp: serves the requests about children, execs and deaths.
//
// Requests about tasks arrive in any order between parent and child (agent/lifecycle/tasks.cpp). So a child is
// registered by whichever request takes its entry out of state.children first; the later one finds none and changes
// nothing. Ids in a request are the sender's: they are translated to the broker's namespace before the kernel is asked
// (kernel_ids.h).
#include "broker/requests/tasks.h"

#include <string>

#include "broker/host/proc_task.h"
#include "broker/state/task_life.h"

namespace anyperf::broker {

using subsystem::ForkKind;

namespace {

ForkKind fork_kind(std::uint64_t clone_flags) {
    constexpr std::uint64_t kCloneThread = 0x00010000;    // CLONE_THREAD
    constexpr std::uint64_t kClearSignals = 0x100000000;  // CLONE_CLEAR_SIGHAND
    if ((clone_flags & kCloneThread) != 0) return ForkKind::thread;
    return (clone_flags & kClearSignals) != 0 ? ForkKind::clears_signals : ForkKind::process;
}

/// Whether another process traces this one by ptrace(2).
bool has_tracer(std::int32_t pid) {
    return status_field(pid, "TracerPid").find_first_of("123456789") != std::string::npos;
}

void report_exec(RequestContext& request) {
    request.subsystem().task_exec(request.caller, request.caller);
    request.subsystem().task_comm(request.caller, text_of(request), true);
}

}  // namespace

RequestAnswer on_before_clone(RequestContext& request) {
    if (request.subsystem().idle()) return {};
    const std::uint64_t page = request.argument(1);
    // A child without a thread page is outside of the shared memory, so no event can count it. A page that has an id
    // already is another thread's.
    if (page >= run::kMaximumThreadPages || request.state.memory.thread_page(static_cast<std::uint32_t>(page)).tid != 0)
        return {};
    return {.value = request.state.children.add(
                {request.caller, fork_kind(request.argument(0)), static_cast<std::uint32_t>(page)})};
}

RequestAnswer on_clone_failed(RequestContext& request) {
    request.state.children.take(static_cast<std::uint32_t>(request.argument(0)), request.caller);
    return {};
}

RequestAnswer on_cloned(RequestContext& request) {
    const auto tid = static_cast<std::int32_t>(request.argument(1));
    if (tid <= 0) return {};
    const auto child = request.state.children.take(static_cast<std::uint32_t>(request.argument(0)), request.caller);
    if (!child) return {};
    const bool is_thread = child->kind == ForkKind::thread;
    const TaskId task{child->page, is_thread ? child->parent.pid : tid, tid};
    KernelIds kernel{is_thread ? request.kernel.pid : tid, tid};
    if (!is_in_own_namespace(request.kernel.pid)) kernel = seen_as(tid, request.kernel.tid);
    // The id is the parent's statement, so it is recorded only if the kernel has such a thread.
    if (exists(kernel)) request.state.threads.add(task, kernel);
    register_child(request.state, *child, task);
    return {};
}

RequestAnswer on_begin(RequestContext& request) {
    // A pidfd for the process, by which its death is noticed.
    request.state.processes.track(request.kernel.pid);
    const auto number = static_cast<std::uint32_t>(request.argument(0));
    if (const auto child = request.state.children.take_on_page(number, request.caller.thread_page))
        register_child(request.state, *child, request.caller);
    return {};
}

RequestAnswer on_executing(RequestContext& request) {
    // The exec is reported here only for a traced process, because the execve may still fail, and the report cannot be
    // taken back. A request without payload says that it has failed.
    std::set<std::uint32_t>& reported = request.state.reported_execs;
    reported.erase(request.caller.thread_page);  // left over from an exec that failed
    if (!request.payload.empty() && has_tracer(request.kernel.pid)) {
        report_exec(request);
        reported.insert(request.caller.thread_page);
    }
    return {};
}

RequestAnswer on_executed(RequestContext& request) {
    unmap_rings_of(request.state, request.kernel.pid);
    if (request.state.reported_execs.erase(request.caller.thread_page) == 0) report_exec(request);
    return {};
}

RequestAnswer on_end(RequestContext& request) {
    if (request.argument(0) != 0)
        end_threads_of(request.state, request.kernel.pid);
    else
        end_thread(request.state, request.caller);
    return {};
}

RequestAnswer on_reaping(RequestContext& request) {
    // The request alone is not believed: the pidfd must show that the process has ended.
    const auto child = static_cast<std::int32_t>(request.argument(0));
    const pid_t process = seen_as(child, request.kernel.tid).pid;
    if (request.state.processes.has_ended(process)) end_process(request.state, process);
    return {};
}

RequestAnswer on_switch_events(RequestContext& request) {
    const bool on = request.argument(0) != 0;
    request.subsystem().prctl(request.caller, on);
    const BrokerState& state = request.state;
    if (state.host && state.memory.header().programs_switch != 0) request.subsystem().prctl(*state.host, on);
    return {};
}

}  // namespace anyperf::broker

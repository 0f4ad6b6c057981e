// task_life.cpp: the threads of a process are those that the broker knows, and those that only their pages name.
//
// The broker learns of a process's end in three ways: the process reports it (on_end), its parent reports it before it
// reaps the process, or the pidfd becomes readable. The first of them ends the threads; the later ones find nothing
// left. A thread's EXIT record must be written before the rings are unmapped and the page is free for another thread.
#include "broker/state/task_life.h"

#include <iterator>

#include "broker/machine/presented_machine.h"
#include "subsystem/records/record_interests.h"

namespace anyperf::broker {

namespace {

/// Frees the pages that threads of a dead process have left. With counting they are kept: `anyperf run --count` reads
/// the counts of a killed thread there. A page's ids are only a hint, so a page is freed only if the kernel has no such
/// thread.
void free_pages_of(BrokerState& state, pid_t process) {
    if (state.memory.header().counting != 0) return;
    state.memory.for_each_used_page([&](std::uint32_t number) {
        run::ThreadPage& page = state.memory.thread_page(number);
        const std::int32_t tid = page.tid;
        if (page.state == run::RecordState::live && page.process_id() == process && !state.threads.knows(number) &&
            !exists({process, tid}))
            page.release();
    });
}

/// The pages of a dead process that another user's memory has taken over, and that are free, are free where they came
/// from.
void return_pages_of(BrokerState& state, pid_t process) {
    const auto moved = state.moved_pages.equal_range(process);
    for (auto at = moved.first; at != moved.second;) {
        const bool is_free = state.memory.thread_page(at->second).state == run::RecordState::free;
        if (is_free) state.memory.return_page(at->second);
        at = is_free ? state.moved_pages.erase(at) : std::next(at);
    }
}

}  // namespace

void register_child(BrokerState& state, const PendingChild& pending, const TaskId& child) {
    state.processes.track(state.threads.kernel_ids(child).pid);
    state.machine->subsystem.task_forked(pending.parent, child, pending.kind);
}

void register_pending_children(BrokerState& state) {
    state.children.take_started(state.threads, [&](const PendingChild& pending, const TaskId& child) {
        register_child(state, pending, child);
    });
}

void unmap_rings_of(BrokerState& state, pid_t process) {
    state.mappings.take_all(process, [&](subsystem::EventIndex event, const subsystem::Mapping& mapping) {
        if (state.machine) state.machine->subsystem.unmap(event, mapping);
    });
}

// The parent is looked up only if some event wants EXIT records, because that reads a file of /proc.
void end_thread(BrokerState& state, const TaskId& task) {
    if (state.machine) {
        constexpr std::uint32_t kExit = 1U << static_cast<unsigned>(subsystem::Interest::exit);
        const bool is_reported = (state.machine->subsystem.wanted() & kExit) != 0;
        state.machine->subsystem.task_exit(task, is_reported ? parent_of(state.threads.kernel_ids(task).pid) : 0);
        state.machine->host.forget_thread(task.thread_page);
    }
    state.threads.forget(task.thread_page);
}

void end_threads_of(BrokerState& state, pid_t process) {
    for (const TaskId& task : state.threads.threads_of(process)) end_thread(state, task);
}

void end_process(BrokerState& state, pid_t process) {
    if (!state.processes.forget(process)) return;
    for (const TaskId& task : state.threads.threads_of(process)) {
        end_thread(state, task);
        if (state.memory.header().counting == 0) state.memory.thread_page(task.thread_page).release();
    }
    unmap_rings_of(state, process);
    free_pages_of(state, process);
    return_pages_of(state, process);
}

}  // namespace anyperf::broker

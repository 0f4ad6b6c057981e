// run_threads.cpp: compares what pages say with what the kernel says. A page is memory that every program of the run
// can write, so its ids are a hint that is believed only if the kernel confirms it: the thread exists, its process runs
// this engine, and no living thread of another process has the page. What was confirmed is kept in known_, which is
// believed rather than the page.
#include "broker/tasks/run_threads.h"

#include <unistd.h>

namespace anyperf::broker {

using subsystem::TaskId;

namespace {

std::int32_t read_once(const std::int32_t& shared) {
    return __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
}

}  // namespace

bool RunThreads::runs_engine(std::int32_t pid) const {
    return runs_file(pid, memory_.header().engine_path).value_or(::geteuid() != 0);
}

bool RunThreads::is_taken(std::uint32_t page, std::int32_t pid) const {
    const auto known = known_.find(page);
    return known != known_.end() && known->second.kernel.pid != pid && exists(known->second.kernel);
}

std::optional<TaskId> RunThreads::sender(std::uint32_t page, std::int32_t pid, std::int32_t tid) {
    if (page >= run::kMaximumThreadPages || pid <= 0 || tid <= 0) return std::nullopt;
    if (read_once(memory_.thread_page(page).tid) != tid) return std::nullopt;
    const auto known = known_.find(page);
    if (known != known_.end() && known->second.kernel.pid == pid && known->second.task.tid == tid)
        return known->second.task;
    if (is_taken(page, pid)) return std::nullopt;
    const bool same_namespace = is_in_own_namespace(pid);
    const KernelIds kernel = same_namespace ? KernelIds{pid, tid} : thread_called(pid, tid);
    // The sender of a request holds the run's socket, so a process that cannot be examined is believed. One that can be
    // examined must run the engine: the sender may have died, and a stranger may have its id now.
    if (!exists(kernel) || !runs_file(pid, memory_.header().engine_path).value_or(true)) return std::nullopt;
    const OwnIds own = same_namespace ? OwnIds{pid, tid} : own_ids_of(kernel);
    const TaskId task{page, own.pid, own.tid};
    known_[page] = {task, kernel};
    return task;
}

std::optional<RunThreads::Known> RunThreads::look_up(std::uint32_t page, std::int32_t tid) const {
    const run::ThreadPage& hint = memory_.thread_page(page);
    const std::uint64_t inode = __atomic_load_n(&hint.pid_namespace, __ATOMIC_RELAXED);
    const std::int32_t process = read_once(hint.pid);
    KernelIds kernel{process != 0 ? process : tid, tid};
    const bool same_namespace = inode == 0 || inode == own_pid_namespace();
    if (!same_namespace || !exists(kernel)) kernel = called_in(inode, tid);
    if (!kernel || is_taken(page, kernel.pid) || !runs_engine(kernel.pid)) return std::nullopt;
    const std::int32_t own_pid = same_namespace ? kernel.pid : own_ids_of(kernel).pid;
    return Known{{page, own_pid, tid}, kernel};
}

std::optional<TaskId> RunThreads::find(std::uint32_t page) {
    if (page >= run::kMaximumThreadPages) return std::nullopt;
    const run::ThreadPage& hint = memory_.thread_page(page);
    const std::int32_t tid = read_once(hint.tid);
    if (tid <= 0 || hint.state != run::RecordState::live) return std::nullopt;
    const auto known = known_.find(page);
    if (known != known_.end() && known->second.task.tid == tid && exists(known->second.kernel))
        return known->second.task;
    const auto found = look_up(page, tid);
    if (!found) return std::nullopt;
    known_[page] = *found;
    return found->task;
}

void RunThreads::add(const TaskId& task, const KernelIds& kernel) {
    if (task.thread_page < run::kMaximumThreadPages && kernel) known_[task.thread_page] = {task, kernel};
}

KernelIds RunThreads::kernel_ids(const TaskId& task) const {
    if (task.thread_page >= run::kMaximumThreadPages) return {task.pid, task.tid};
    const auto known = known_.find(task.thread_page);
    return known != known_.end() && known->second.task == task ? known->second.kernel : KernelIds{};
}

KernelIds RunThreads::called(std::int32_t tid) const {
    for (const auto& [page, known] : known_)
        if (known.task.tid == tid && exists(known.kernel)) return known.kernel;
    return {};
}

std::vector<TaskId> RunThreads::threads_of(std::int32_t pid) const {
    std::vector<TaskId> threads;
    for (const auto& [page, known] : known_)
        if (known.kernel.pid == pid) threads.push_back(known.task);
    return threads;
}

}  // namespace anyperf::broker

// run_host_tasks.cpp: what RunHost knows of tasks: how to find them, what they have done, what they may do.
//
// It has three sources:
//   - The thread's page in the run memory is current, but the program can write it. It serves for values that concern
//     only the program itself (its counts), and as a hint that the kernel then confirms (its id).
//   - The request that is handled now has the caller's clock and context switches, exact at the moment of the call.
//   - /proc has everything about other threads. It may lag, and a thread may end while it is read.
// So each value that must not fall is cached with the moment in which it was read, and a failed read gives the last
// value. Rights never come from the run memory: the kernel is asked for those of the thread that sent the request.
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <utility>

#include "broker/host/proc_task.h"
#include "broker/host/run_host.h"
#include "run/live_value.h"
#include "run/run_clock.h"

namespace anyperf::broker {

namespace {

constexpr unsigned kCapIpcLock = 14;
constexpr unsigned kCapSysAdmin = 21;
constexpr unsigned kCapPerfmon = 38;
constexpr unsigned kCapSysPtrace = 19;

/// The thread's present effective capabilities, a bit each; 0 if the thread is gone. They are not cached, because a
/// program may drop them. Capabilities in another user namespace than the broker's do not count, because the kernel's
/// perf_event_open asks for capabilities of the machine (perfmon_capable() of Linux 6.18).
std::uint64_t effective_capabilities(std::int32_t tid) {
    if (tid <= 0) return 0;
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, tid};
    std::array<__user_cap_data_struct, 2> data{};
    if (::syscall(SYS_capget, &header, data.data()) != 0) return 0;
    const std::uint64_t set = std::uint64_t{data[1].effective} << 32 | data[0].effective;
    return set == 0 || shares_user_namespace(tid) ? set : 0;
}

bool has(std::uint64_t set, unsigned capability) {
    return (set >> capability & 1) != 0;
}

/// Whether the cgroup of this path has the id. The hierarchy may be mounted in any of these places.
bool is_cgroup(const std::string& path, std::uint64_t id) {
    struct stat about{};
    return std::ranges::any_of(
        std::array{"/sys/fs/cgroup", "/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified"},
        [&](const char* root) { return ::stat((root + path).c_str(), &about) == 0 && about.st_ino == id; });
}

/// Whether the machine has a thread with this id, of the run or not, and the thread has not ended.
bool is_alive(std::int32_t tid) {
    const std::string state = status_field(tid, "State");
    const std::size_t letter = state.find_first_not_of(" \t");
    return letter != std::string::npos && state[letter] != 'Z' && state[letter] != 'X';
}

}  // namespace

/// For the caller, the time that came with its request. For any other task it is read once in each moment (TaskCache):
/// in a deterministic run it follows from what the task has retired, else it is in schedstat.
std::uint64_t RunHost::task_clock(const TaskId& task) {
    TaskCache& known = cached(task);
    // `moment_` changes at the end of each call of the subsystem: within a call the clock is read once, so that all
    // events of a group get the same time.
    if (is_caller(task) || std::exchange(known.clock_moment, moment_) == moment_) return known.clock;
    if (has_run_clock()) return known.clock = std::max(known.clock, run::cpu_ns(counts_of(task).count(0)));
    const KernelIds ids = kernel_ids(task);
    if (const auto now = time_on_cpu(ids.pid, ids.tid))
        known.clock = std::max(known.clock, *now);
    else if (!std::exchange(known.gone, true))
        ++known.clock;  // killed and reaped: its time since the last read is lost, but it must count as having run
    return known.clock;
}

const run::CopiedCounts& RunHost::counts_of(const TaskId& task) {
    TaskCache& known = cached(task);
    if (std::exchange(known.counts_moment, moment_) != moment_)
        known.counts = run::CopiedCounts::of(memory_.counts_of(task.thread_page));
    return known.counts;
}

/// The last known number if the thread is gone. For the caller it is the number that came with its request. Another
/// thread may be waiting for the broker at this moment, and may not have counted the wait as its engine's yet
/// (ThreadPage::own_switches). So a number may be too high by one, but it never falls.
std::uint64_t RunHost::context_switches(const TaskId& task) {
    std::uint64_t& last = cached(task).switches;
    if (is_caller(task)) return last;
    run::ThreadPage& page = memory_.thread_page(task.thread_page);
    if (memory_.header().turns != 0) {
        const auto sum = __atomic_load_n(&page.turn_switches[0], __ATOMIC_RELAXED) +
                         __atomic_load_n(&page.turn_switches[1], __ATOMIC_RELAXED);
        return last = std::max(last, sum);
    }
    const KernelIds ids = kernel_ids(task);
    const std::uint64_t own = __atomic_load_n(&page.own_switches, __ATOMIC_RELAXED);
    if (const auto now = context_switches_of(ids.pid, ids.tid); now && *now > own) last = std::max(last, *now - own);
    __atomic_store_n(&page.switches_read, last, __ATOMIC_RELAXED);
    return last;
}

std::uint64_t RunHost::cpu_migrations(const TaskId& task) {
    std::uint64_t& last = cached(task).migrations;
    const KernelIds ids = kernel_ids(task);
    if (const auto now = cpu_migrations_of(ids.pid, ids.tid)) last = *now;
    __atomic_store_n(&memory_.thread_page(task.thread_page).migrations, last, __ATOMIC_RELAXED);
    return last;
}

std::uint64_t RunHost::value(const TaskId& task, const Source& source) {
    if (task.thread_page >= run::kMaximumThreadPages) return 0;
    const run::ThreadPage& page = memory_.thread_page(task.thread_page);
    switch (source.kind) {
        case Source::Kind::counters: return run::live_value(source, counts_of(task));
        case Source::Kind::task_clock:
        case Source::Kind::cpu_clock: return task_clock(task);
        case Source::Kind::page_faults: return page.faults[0] + page.faults[1];
        case Source::Kind::minor_faults: return page.faults[0];
        case Source::Kind::major_faults: return page.faults[1];
        case Source::Kind::context_switches: return context_switches(task);
        case Source::Kind::cpu_migrations: return cpu_migrations(task);
        case Source::Kind::nothing:
        case Source::Kind::occurrences: return 0;
    }
    return 0;
}

std::optional<TaskId> RunHost::find_live_thread(const KernelIds& wanted, std::int32_t tid) const {
    // If the ids differ, the caller is in another pid namespace than the broker.
    const bool elsewhere = tid != wanted.tid;
    std::optional<TaskId> found;
    memory_.for_each_used_page([&](std::uint32_t number) {
        if (found) return;
        // A page's id is a hint, which saves asking about most pages. It is the id in the thread's own pid namespace.
        const std::int32_t hint = memory_.thread_page(number).tid;
        if (hint != wanted.tid && !elsewhere && !threads_.knows(number)) return;
        const auto task = threads_.find(number);
        if (task && kernel_ids(*task) == wanted) found = task;
    });
    return found;
}

Answer<TaskId> RunHost::find_task(const TaskId& caller, std::int32_t tid) {
    if (tid == 0) return caller;
    const KernelIds wanted = seen_as(tid, kernel_ids(caller).tid);
    if (!wanted) return subsystem::refuse(ESRCH, "there is no such thread");
    // The kernel writes a new thread's id to its page when the thread first runs (engine/syscalls/clone.cpp). A caller
    // may know the id earlier. So if the process runs the engine but no page has the id yet, the search is repeated for
    // up to 20 ms.
    constexpr int kTries = 200;
    constexpr unsigned kPause = 100;  // microseconds
    for (int i = 0; i < kTries; ++i) {
        if (const auto found = find_live_thread(wanted, tid)) return *found;
        if (!threads_.runs_engine(wanted.pid)) break;
        ::usleep(kPause);
    }
    if (is_alive(wanted.tid)) return TaskId{subsystem::kOutsideOfRun, wanted.pid, wanted.tid};
    return subsystem::refuse(ESRCH, "there is no such thread");
}

std::vector<TaskId> RunHost::living_tasks() {
    std::vector<TaskId> tasks;
    memory_.for_each_used_page([&](std::uint32_t number) {
        if (const auto task = threads_.find(number)) tasks.push_back(*task);
    });
    return tasks;
}

std::int32_t RunHost::cpu(const TaskId& task) {
    return task.thread_page < run::kMaximumThreadPages ? memory_.thread_page(task.thread_page).cpu : 0;
}

// A cgroup counts the tasks in cgroups below it, too (perf_cgroup_match() in kernel/events/core.c). A cgroup's id is
// the inode of its directory.
bool RunHost::in_cgroup(const TaskId& task, std::uint64_t cgroup) {
    std::ifstream file{"/proc/" + std::to_string(kernel_ids(task).pid) + "/cgroup"};
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.rfind(':');
        if (colon == std::string::npos) continue;
        for (std::string path = line.substr(colon + 1); !path.empty(); path.resize(path.rfind('/')))
            if (is_cgroup(path, cgroup)) return true;
        if (is_cgroup("/", cgroup)) return true;
    }
    return false;
}

// CAP_SYS_ADMIN includes CAP_PERFMON for this purpose, as in the kernel's perfmon_capable().
subsystem::Credentials RunHost::credentials(const TaskId& caller) {
    const std::uint64_t capabilities = effective_capabilities(kernel_ids(caller).tid);
    return {.perfmon = has(capabilities, kCapPerfmon) || has(capabilities, kCapSysAdmin),
            .ipc_lock = has(capabilities, kCapIpcLock),
            .sys_admin = has(capabilities, kCapSysAdmin)};
}

subsystem::MemoryAccount RunHost::memory_account(const TaskId& caller) {
    const std::int32_t pid = kernel_ids(caller).pid;
    const auto ids = numbers_of(status_field(pid, "Uid"));
    subsystem::MemoryAccount known;
    known.uid = ids.size() > 1 ? static_cast<std::uint32_t>(ids[1]) : 65534;
    std::ifstream file{"/proc/" + std::to_string(pid) + "/limits"};
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("Max locked memory")) continue;
        const auto numbers = numbers_of(line);
        known.memlock_bytes = line.find("unlimited") < 40 ? ~std::uint64_t{0} : numbers.empty() ? 0 : numbers[0];
    }
    return known;
}

bool RunHost::may_measure(const TaskId& caller, const TaskId& task) {
    const KernelIds from = kernel_ids(caller);
    const KernelIds to = kernel_ids(task);
    if (!from || !to) return false;
    if (from.pid == to.pid) return true;
    if (has(effective_capabilities(from.tid), kCapSysPtrace)) return true;
    const auto own = numbers_of(status_field(from.tid, "Uid"));
    // The real, effective and saved user ids of the target must be the caller's real one.
    const auto theirs = numbers_of(status_field(to.tid, "Uid"));
    if (own.size() < 4 || theirs.size() < 4) return false;
    if (!std::all_of(theirs.begin(), theirs.begin() + 3, [&](std::uint64_t id) { return id == own[0]; })) return false;
    // As ptrace does, this refuses a process that is not dumpable: its files in /proc belong to root (proc(5),
    // "/proc/pid"). The directory itself does not, so a file is examined.
    struct stat about{};
    return ::stat(("/proc/" + std::to_string(to.pid) + "/stat").c_str(), &about) != 0 || about.st_uid == theirs[1];
}

}  // namespace anyperf::broker

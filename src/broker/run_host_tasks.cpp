// run_host_tasks.cpp: of RunHost, what it knows of tasks: who they are, what they have done, what they may.
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <fstream>
#include <utility>

#include "broker/run_host.h"
#include "broker/task_accounts.h"
#include "resident/live_value.h"

namespace anyperf::broker {

namespace {

constexpr unsigned kCapIpcLock = 14;
constexpr unsigned kCapSysAdmin = 21;
constexpr unsigned kCapPerfmon = 38;
constexpr unsigned kCapSysPtrace = 19;

/// Of the thread, as the kernel has them now: one call, so that nothing needs to be remembered.
std::uint64_t effective_capabilities(std::int32_t tid) {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, tid};
    std::array<__user_cap_data_struct, 2> data{};
    if (::syscall(SYS_capget, &header, data.data()) != 0) return 0;
    return std::uint64_t{data[1].effective} << 32 | data[0].effective;
}

bool has(std::uint64_t set, unsigned capability) {
    return (set >> capability & 1) != 0;
}

/// There is such a thread on this machine, and it has not ended.
bool lives(std::int32_t tid) {
    const std::string state = status_field(tid, "State");
    const std::size_t letter = state.find_first_not_of(" \t");
    return letter != std::string::npos && state[letter] != 'Z' && state[letter] != 'X';
}

/// Effective user, group … of "Uid:\treal\teffective\tsaved\tfs".
std::vector<std::uint32_t> ids_in(const std::string& text) {
    std::vector<std::uint32_t> ids;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at != end) {
        if (*at < '0' || *at > '9') {
            ++at;
            continue;
        }
        std::uint32_t id = 0;
        at = std::from_chars(at, end, id).ptr;
        ids.push_back(id);
    }
    return ids;
}

}  // namespace

std::uint64_t RunHost::task_clock(const TaskName& task) {
    TaskMemory& known = memory_of(task);
    if (is_caller(task) || std::exchange(known.clock_seen, moment_) == moment_) return known.clock;
    if (const auto now = time_on_cpu(task.pid, task.tid))
        known.clock = std::max(known.clock, *now);
    else if (!std::exchange(known.gone, true))
        ++known.clock;  // killed, and its parent was faster: for how long it ran is lost, but not that it ran
    return known.clock;
}

const engine::LiveCounters& RunHost::counts_of(const TaskName& task) {
    TaskMemory& known = memory_of(task);
    if (std::exchange(known.counts_seen, moment_) != moment_)
        known.counts = memory_.thread_page(task.thread_page).counters.seen();
    return known.counts;
}

std::uint64_t RunHost::known_switches(const TaskName& task) {
    std::uint64_t& last = memory_of(task).switches;
    if (const auto now = switches_of(task.pid, task.tid)) last = *now;
    return last;
}

std::uint64_t RunHost::known_moves(const TaskName& task) {
    std::uint64_t& last = memory_of(task).moves;
    if (const auto now = moves_of(task.pid, task.tid)) last = *now;
    return last;
}

std::uint64_t RunHost::value(const TaskName& task, const Source& source) {
    if (task.thread_page >= engine::kMaximumThreadPages) return 0;
    const engine::ThreadPage& page = memory_.thread_page(task.thread_page);
    switch (source.kind) {
        case Source::Kind::counters: return resident::live_value(source, counts_of(task));
        case Source::Kind::task_clock:
        case Source::Kind::cpu_clock: return task_clock(task);
        case Source::Kind::page_faults: return page.faults[0] + page.faults[1];
        case Source::Kind::minor_faults: return page.faults[0];
        case Source::Kind::major_faults: return page.faults[1];
        case Source::Kind::context_switches: return known_switches(task);
        case Source::Kind::cpu_migrations: return known_moves(task);
        case Source::Kind::nothing:
        case Source::Kind::happenings: return 0;
    }
    return 0;
}

std::optional<TaskName> RunHost::living(std::uint32_t number) const {
    const engine::ThreadPage& page = memory_.thread_page(number);
    const std::int32_t tid = __atomic_load_n(&page.tid, __ATOMIC_ACQUIRE);
    if (page.state != engine::RecordState::live || tid == 0) return std::nullopt;
    const TaskName task{number, page.process_id(), tid};
    if (::syscall(SYS_tgkill, task.pid, task.tid, 0) != 0 && errno == ESRCH) return std::nullopt;
    return task;
}

std::optional<TaskName> RunHost::look_for(std::int32_t tid) const {
    const std::uint32_t pages = std::min(memory_.header().thread_pages, engine::kMaximumThreadPages);
    for (std::uint32_t number = 0; number < pages; ++number)
        if (memory_.thread_page(number).tid == tid)
            if (const auto task = living(number)) return task;
    return std::nullopt;
}

Answer<TaskName> RunHost::find_task(const TaskName& caller, std::int32_t tid) {
    if (tid == 0) return caller;
    // The kernel tells the page of a thread that was made a moment ago when that first runs
    // (engine/syscalls/clone.cpp).
    constexpr int kTries = 200;
    constexpr unsigned kPause = 100;  // microseconds
    for (int i = 0; i < kTries; ++i) {
        if (const auto found = look_for(tid)) return *found;
        if (tid < 0 || !runs_engine(tid)) break;
        ::usleep(kPause);
    }
    if (tid > 0 && lives(tid)) return TaskName{subsystem::kOutsideOfRun, tid, tid};
    return subsystem::refuse(ESRCH, "there is no such thread");
}

bool RunHost::runs_engine(std::int32_t tid) const {
    std::array<char, 4096> link{};
    const std::string path = "/proc/" + std::to_string(tid) + "/exe";
    const ssize_t length = ::readlink(path.c_str(), link.data(), link.size() - 1);
    return length > 0 && std::string_view{link.data()} == memory_.header().engine_path;
}

std::vector<TaskName> RunHost::living_tasks() {
    std::vector<TaskName> tasks;
    const std::uint32_t pages = std::min(memory_.header().thread_pages, engine::kMaximumThreadPages);
    for (std::uint32_t number = 0; number < pages; ++number)
        if (const auto task = living(number)) tasks.push_back(*task);
    return tasks;
}

std::int32_t RunHost::cpu(const TaskName& task) {
    return task.thread_page < engine::kMaximumThreadPages ? memory_.thread_page(task.thread_page).cpu : 0;
}

bool RunHost::in_cgroup(const TaskName& task, std::uint64_t cgroup) {
    std::ifstream file{"/proc/" + std::to_string(task.pid) + "/cgroup"};
    for (std::string line; std::getline(file, line);) {
        const std::size_t path = line.rfind(':');
        if (path == std::string::npos) continue;
        struct stat about{};
        for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/perf_event", "/sys/fs/cgroup/unified"})
            if (::stat((root + line.substr(path + 1)).c_str(), &about) == 0 && about.st_ino == cgroup) return true;
    }
    return false;
}

subsystem::Credentials RunHost::credentials(const TaskName& caller) {
    const std::uint64_t capabilities = effective_capabilities(caller.tid);
    return {.perfmon = has(capabilities, kCapPerfmon) || has(capabilities, kCapSysAdmin),
            .ipc_lock = has(capabilities, kCapIpcLock)};
}

subsystem::MemoryAccount RunHost::memory_account(const TaskName& caller) {
    const auto ids = ids_in(status_field(caller.pid, "Uid"));
    subsystem::MemoryAccount known;
    known.uid = ids.size() > 1 ? ids[1] : 65534;
    std::ifstream file{"/proc/" + std::to_string(caller.pid) + "/limits"};
    for (std::string line; std::getline(file, line);) {
        if (!line.starts_with("Max locked memory")) continue;
        const auto numbers = ids_in(line);
        known.memlock_bytes = line.find("unlimited") < 40 ? ~std::uint64_t{0} : numbers.empty() ? 0 : numbers[0];
    }
    return known;
}

bool RunHost::may_measure(const TaskName& caller, const TaskName& task) {
    if (caller.pid == task.pid) return true;
    if (has(effective_capabilities(caller.tid), kCapSysPtrace)) return true;
    const auto own = ids_in(status_field(caller.pid, "Uid"));
    const auto theirs = ids_in(status_field(task.pid, "Uid"));
    if (own.size() < 4 || theirs.size() < 4) return false;
    if (!std::all_of(theirs.begin(), theirs.begin() + 3, [&](std::uint32_t id) { return id == own[0]; })) return false;
    // The files of a process that is not dumpable belong to root (proc(5), "/proc/pid"); the directory does not.
    struct stat about{};
    return ::stat(("/proc/" + std::to_string(task.pid) + "/stat").c_str(), &about) != 0 || about.st_uid == theirs[1];
}

}  // namespace anyperf::broker

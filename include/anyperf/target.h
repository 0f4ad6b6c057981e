// target.h: whom to count.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace anyperf::counting {

/// Where one perf event counts: the kernel's pair of pid and cpu (perf_event_open(2), "Arguments").
struct Place {
    pid_t pid = 0;        ///< 0: the calling thread; -1: whoever runs on `cpu`; else one thread, by its tid
    int cpu = -1;         ///< -1: wherever the thread runs
    bool cgroup = false;  ///< pid is a descriptor of a cgroup's directory

    bool operator==(const Place&) const = default;
};

/// Whom to count. A process is all of its threads, those that appear while its events are being opened included.
struct Target {
    enum class Kind { self, threads, processes, cpus, system, cgroup };

    Kind kind = Kind::self;
    std::vector<pid_t> ids;   ///< tids of threads, pids of processes
    std::vector<int> cpus;    ///< empty: every CPU that is online (cpus, cgroup); else tasks while they run on these
    std::string cgroup_path;  ///< the cgroup's directory

    /// The calling thread; with OpenOptions::inherit also what it creates from then on.
    static Target self() { return {}; }
    static Target thread(pid_t tid) { return {Kind::threads, {tid}, {}, {}}; }
    static Target threads(std::vector<pid_t> tids) { return {Kind::threads, std::move(tids), {}, {}}; }
    static Target process(pid_t pid) { return {Kind::processes, {pid}, {}, {}}; }
    static Target processes(std::vector<pid_t> pids) { return {Kind::processes, std::move(pids), {}, {}}; }
    /// Everybody, while on these CPUs.
    static Target on_cpus(std::vector<int> cpus) { return {Kind::cpus, {}, std::move(cpus), {}}; }
    /// Everybody on every CPU that is online.
    static Target system() { return {Kind::system, {}, {}, {}}; }
    /// The tasks of a cgroup and of those below it, on these CPUs (all where empty).
    static Target cgroup(std::string directory, std::vector<int> cpus = {}) {
        return {Kind::cgroup, {}, std::move(cpus), std::move(directory)};
    }

    /// True where events are bound to CPUs, not to tasks.
    bool cpu_wide() const { return kind == Kind::cpus || kind == Kind::system || kind == Kind::cgroup; }
};

}  // namespace anyperf::counting

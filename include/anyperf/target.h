// target.h: what to measure: threads, processes, CPUs, the whole system or a cgroup.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace anyperf::counting {

/// Where one perf event counts: the kernel's pair of pid and cpu (perf_event_open(2), "Arguments").
struct Place {
    pid_t pid = 0;        ///< 0: the calling thread; -1: everything that runs on `cpu`; else one thread, by its id
    int cpu = -1;         ///< -1: wherever the thread runs
    bool cgroup = false;  ///< `pid` is a descriptor of a cgroup's directory

    bool operator==(const Place&) const = default;
};

/// What to count. A process is all of its threads, including those that appear while its events are opened. Use the
/// functions below to make one.
struct Target {
    enum class Kind { self, threads, processes, cpus, system, cgroup };

    Kind kind = Kind::self;
    std::vector<pid_t> ids;   ///< thread ids for `threads`, process ids for `processes`
    std::vector<int> cpus;    ///< the CPUs; tasks are counted only while they run on these. Empty: all CPUs
    std::string cgroup_path;  ///< the cgroup's directory

    /// The calling thread; with OpenOptions::inherit also the threads and processes that it creates from then on.
    static Target self() { return {}; }
    static Target thread(pid_t tid) { return {Kind::threads, {tid}, {}, {}}; }
    static Target threads(std::vector<pid_t> tids) { return {Kind::threads, std::move(tids), {}, {}}; }
    static Target process(pid_t pid) { return {Kind::processes, {pid}, {}, {}}; }
    static Target processes(std::vector<pid_t> pids) { return {Kind::processes, std::move(pids), {}, {}}; }
    /// Everything that runs on these CPUs.
    static Target on_cpus(std::vector<int> cpus) { return {Kind::cpus, {}, std::move(cpus), {}}; }
    /// Everything that runs on any online CPU.
    static Target system() { return {Kind::system, {}, {}, {}}; }
    /// The tasks of a cgroup and of the cgroups below it, on these CPUs (empty: all). `directory` is the cgroup's
    /// directory.
    static Target cgroup(std::string directory, std::vector<int> cpus = {}) {
        return {Kind::cgroup, {}, std::move(cpus), std::move(directory)};
    }

    /// Whether events are bound to CPUs instead of tasks.
    bool cpu_wide() const { return kind == Kind::cpus || kind == Kind::system || kind == Kind::cgroup; }
};

}  // namespace anyperf::counting

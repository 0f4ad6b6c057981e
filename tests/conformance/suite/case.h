// case.h: a conformance case: one statement about perf_event_open(2), what it needs of the machine, and the function
// that checks it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace conformance {

/// What a machine must have for a case to be meaningful. Ored together; presented_machine.cpp has a probe for each but
/// kSysctl.
enum Need : unsigned {
    kNothing = 0,
    kRoot = 1U << 0,          ///< effective uid 0 with all capabilities
    kKernelSide = 1U << 1,    ///< events without exclude_kernel open
    kHardware = 1U << 2,      ///< PERF_TYPE_HARDWARE instructions open
    kTracefs = 1U << 3,       ///< the ids of tracepoints can be read
    kUprobe = 1U << 4,        ///< the kernel has the uprobe PMU, and this process is root
    kCgroup = 1U << 5,        ///< a cgroup of perf_event or cgroup2 can be created
    kTwoCpus = 1U << 6,       ///< this process may run on two CPUs
    kBreakpoint = 1U << 7,    ///< data watchpoints open
    kBpf = 1U << 8,           ///< a BPF program can be loaded
    kNobody = 1U << 9,        ///< this process can become uid 65534
    kSysctl = 1U << 10,       ///< /proc/sys/kernel may be changed: no other process depends on it
    kLevel2 = 1U << 11,       ///< kernel.perf_event_paranoid is 2
    kFewCounters = 1U << 12,  ///< the number of hardware counters is limited
    kBranchStack = 1U << 13,  ///< hardware events with PERF_SAMPLE_BRANCH_STACK open
    kRawSyscalls = 1U << 14,  ///< the ids of the raw_syscalls tracepoints can be read
};

/// One statement and its check.
struct Case {
    std::string name;       ///< unique within its area: letters, digits, '_', '.'
    std::string statement;  ///< what must hold, in one sentence
    unsigned needs = kNothing;
    std::function<void()> check;  ///< runs in its own process; throws Failure or Skip
};

/// Whether a case runs twice in its process, with failures of the first run ignored. Cases that count page faults, or
/// anything else exactly, must not count the costs of a first execution (pages of code, blocks to translate).
enum class Rehearsal { none, once };

/// Cases about one subject. `cases` is called once, before any case runs.
struct Area {
    const char* name;
    std::vector<Case> (*cases)();
    Rehearsal rehearsal = Rehearsal::none;
};

/// All areas, in the order in which they are listed and run.
const std::vector<Area>& areas();

/// A name in a sentence: "stream_id" as "stream id".
inline std::string in_words(std::string name) {
    for (char& c : name)
        if (c == '_') c = ' ';
    return name;
}

inline void append(std::vector<Case>& to, std::vector<Case> more) {
    for (Case& one : more) to.push_back(std::move(one));
}

}  // namespace conformance

// case.h: what a conformance case is: one statement about perf_event_open(2), what it needs, and how to check it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace conformance {

/// What a machine must have for a case to say anything. Ored together; needs.cpp has a row for each.
enum Need : unsigned {
    kNothing = 0,
    kRoot = 1U << 0,          ///< effective uid 0 with its capabilities
    kKernelSide = 1U << 1,    ///< may count without exclude_kernel
    kHardware = 1U << 2,      ///< PERF_TYPE_HARDWARE instructions open
    kTracefs = 1U << 3,       ///< ids of tracepoints can be read
    kUprobe = 1U << 4,        ///< the uprobe PMU is there and may be used
    kCgroup = 1U << 5,        ///< a cgroup of perf_event or cgroup2 can be made
    kTwoCpus = 1U << 6,       ///< this process may run on two CPUs
    kBreakpoint = 1U << 7,    ///< data watchpoints open
    kBpf = 1U << 8,           ///< a BPF program can be loaded
    kNobody = 1U << 9,        ///< this process can become uid 65534
    kSysctl = 1U << 10,       ///< settings of /proc/sys/kernel may be changed: nobody else shares them
    kLevel2 = 1U << 11,       ///< kernel.perf_event_paranoid is 2
    kFewCounters = 1U << 12,  ///< more hardware events can be opened than are counted at once
    kBranchStack = 1U << 13,  ///< hardware events with PERF_SAMPLE_BRANCH_STACK open
    kRawSyscalls = 1U << 14,  ///< raw_syscalls tracepoints have an id that can be read
};

struct Case {
    std::string name;       ///< unique within its area: letters, digits, '_', '.'
    std::string statement;  ///< what must hold, as a sentence
    unsigned needs = kNothing;
    std::function<void()> check;  ///< runs in a process of its own; throws Failure or Skip
};

/// Whether a case is run twice in its process, the first time without looking: what counts page faults, or anything
/// else exactly, must not see what any first time costs (pages of code, blocks to translate).
enum class Rehearsal { none, once };

/// Cases about one subject. `cases` is called once, before anything else runs.
struct Area {
    const char* name;
    std::vector<Case> (*cases)();
    Rehearsal rehearsal = Rehearsal::none;
};

/// All areas, in the order in which they are listed and run.
const std::vector<Area>& areas();

inline void append(std::vector<Case>& to, std::vector<Case> more) {
    for (Case& one : more) to.push_back(std::move(one));
}

}  // namespace conformance

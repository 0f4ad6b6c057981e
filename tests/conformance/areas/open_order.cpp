// open_order.cpp: which of two mistakes in one call perf_event_open reports. The stages are the checks of Linux 6.18,
// in its order. Each pair of mistakes that can be made at once, and whose errors differ, is a case.
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/needs.h"
#include "suite/workload.h"

namespace conformance {

namespace {

/// The call that the mistakes are made in, and what they need.
struct Scene {
    Call call{.attr = page_faults(1)};
    int leader = -1;              ///< an event of this thread
    pid_t foreign = 1;            ///< a process of another user
    bool no_descriptors = false;  ///< use up all descriptors before the call
};

/// The arguments that a mistake changes: two mistakes in the same argument can't be combined.
enum Argument : unsigned {
    kFlags = 1,
    kSize = 2,
    kContent = 4,
    kKernel = 8,
    kPeriod = 16,
    kLimit = 32,
    kGroup = 64,
    kPid = 128,
    kCpu = 256,
    kType = 512,
    kChain = 1024
};

/// A check, and a mistake that fails it.
struct Stage {
    const char* name;
    const char* statement;  ///< the mistake, as the subject of "is reported before"
    int error;
    unsigned arguments;
    void (*mistake)(Scene&);
};

constexpr std::array kStages{
    Stage{"flags", "an unknown flag", EINVAL, kFlags, [](Scene& s) { s.call.flags = 16; }},
    Stage{"size", "an attr.size of 63", E2BIG, kSize, [](Scene& s) { s.call.attr.size = 63; }},
    Stage{"content", "a reserved field that is not 0", EINVAL, kContent,
          [](Scene& s) { s.call.attr.__reserved_2 = 1; }},
    Stage{"namespaces", "attr.namespaces without privilege", EACCES, kContent,
          [](Scene& s) { s.call.attr.namespaces = 1; }},
    Stage{"kernel", "kernel mode without the right to it", EACCES, kKernel,
          [](Scene& s) { s.call.attr.exclude_kernel = 0; }},
    Stage{"frequency", "a frequency above the limit", EINVAL, kPeriod,
          [](Scene& s) {
              s.call.attr.freq = 1;
              s.call.attr.sample_freq = 1ULL << 40;
          }},
    Stage{"period", "a period of 2^63", EINVAL, kPeriod, [](Scene& s) { s.call.attr.sample_period = 1ULL << 63; }},
    Stage{"descriptors", "no free descriptor", EMFILE, kLimit, [](Scene& s) { s.no_descriptors = true; }},
    Stage{"group_fd", "a group_fd that is not open", EBADF, kGroup, [](Scene& s) { s.call.group = 9999; }},
    Stage{"pid", "a pid that no process has", ESRCH, kPid, [](Scene& s) { s.call.pid = 0x7ffffff0; }},
    Stage{"cpu", "a CPU that does not exist", EINVAL, kCpu, [](Scene& s) { s.call.cpu = 0x7ffffff0; }},
    Stage{"type", "an unknown type", ENOENT, kType, [](Scene& s) { s.call.attr.type = 0x7fffffff; }},
    Stage{"depth", "sample_max_stack above the limit", EOVERFLOW, kChain,
          [](Scene& s) {
              s.call.attr.sample_type = PERF_SAMPLE_CALLCHAIN;
              s.call.attr.sample_max_stack = 0xffff;
          }},
    Stage{"rights", "a process of another user", EACCES, kPid, [](Scene& s) { s.call.pid = s.foreign; }},
    Stage{"pinned_sibling", "a pinned sibling", EINVAL, kGroup | kContent,
          [](Scene& s) {
              s.call.group = s.leader;
              s.call.attr.pinned = 1;
          }},
};

/// Sets the limit so that no further descriptor can be opened.
void use_up_descriptors() {
    const int lowest = ::dup(STDIN_FILENO);
    if (lowest < 0) throw Failure{"dup failed"};
    ::close(lowest);
    const rlimit limit{static_cast<rlim_t>(lowest), static_cast<rlim_t>(lowest)};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) throw Failure{"setrlimit failed"};
}

void check(const Stage& first, const Stage* second) {
    Child foreign{{}};
    Scene scene;
    if (::geteuid() == 0) {
        scene.foreign = foreign.pid();
        become_nobody();
    }
    const Event leader{dummy()};
    scene.leader = leader.fd();
    if (second != nullptr) second->mistake(scene);
    first.mistake(scene);
    if (scene.no_descriptors) use_up_descriptors();
    const long result = result_of(scene.call);
    want_result("perf_event_open", result, first.error);
}

/// Whether the result of both mistakes shows which of them is reported.
bool can_be_combined(const Stage& first, const Stage& second) {
    return first.error != second.error && (first.arguments & second.arguments) == 0;
}

}  // namespace

std::vector<Case> open_order_cases() {
    std::vector<Case> cases;
    for (std::size_t i = 0; i < kStages.size(); ++i) {
        const Stage& first = kStages.at(i);
        cases.push_back({first.name, std::string{first.statement} + " is " + errno_name(first.error), kLevel2,
                         [&first] { check(first, nullptr); }});
        for (std::size_t j = i + 1; j < kStages.size(); ++j) {
            const Stage& second = kStages.at(j);
            if (!can_be_combined(first, second)) continue;
            cases.push_back({std::string{first.name} + ".before." + second.name,
                             std::string{first.statement} + " is reported before " + second.statement, kLevel2,
                             [&first, &second] { check(first, &second); }});
        }
    }
    return cases;
}

}  // namespace conformance

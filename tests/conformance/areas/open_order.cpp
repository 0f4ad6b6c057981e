// open_order.cpp: which of two mistakes in one call is answered. The stages are those of Linux 6.18, in its order;
// every pair of them that can be made at once and answers differently is a case.
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "areas/areas.h"
#include "suite/event.h"
#include "suite/expect.h"
#include "suite/machine.h"
#include "suite/workload.h"

namespace conformance {

namespace {

/// What the mistakes are made with.
struct Scene {
    Call call{.attr = page_faults(1)};
    int leader = -1;     ///< an event of this thread
    pid_t stranger = 1;  ///< a process of another user
    bool no_descriptors = false;
};

/// The arguments that a stage uses up: two stages that share one can't be combined.
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

struct Stage {
    const char* name;
    int error;
    unsigned arguments;
    void (*mistake)(Scene&);
};

constexpr std::array kStages{
    Stage{"flags", EINVAL, kFlags, [](Scene& s) { s.call.flags = 16; }},
    Stage{"size", E2BIG, kSize, [](Scene& s) { s.call.attr.size = 63; }},
    Stage{"content", EINVAL, kContent, [](Scene& s) { s.call.attr.__reserved_2 = 1; }},
    Stage{"namespaces", EACCES, kContent, [](Scene& s) { s.call.attr.namespaces = 1; }},
    Stage{"kernel", EACCES, kKernel, [](Scene& s) { s.call.attr.exclude_kernel = 0; }},
    Stage{"frequency", EINVAL, kPeriod,
          [](Scene& s) {
              s.call.attr.freq = 1;
              s.call.attr.sample_freq = 1ULL << 40;
          }},
    Stage{"period", EINVAL, kPeriod, [](Scene& s) { s.call.attr.sample_period = 1ULL << 63; }},
    Stage{"descriptors", EMFILE, kLimit, [](Scene& s) { s.no_descriptors = true; }},
    Stage{"group_fd", EBADF, kGroup, [](Scene& s) { s.call.group = 9999; }},
    Stage{"pid", ESRCH, kPid, [](Scene& s) { s.call.pid = 0x7ffffff0; }},
    Stage{"cpu", EINVAL, kCpu, [](Scene& s) { s.call.cpu = 0x7ffffff0; }},
    Stage{"type", ENOENT, kType, [](Scene& s) { s.call.attr.type = 0x7fffffff; }},
    Stage{"depth", EOVERFLOW, kChain,
          [](Scene& s) {
              s.call.attr.sample_type = PERF_SAMPLE_CALLCHAIN;
              s.call.attr.sample_max_stack = 0xffff;
          }},
    Stage{"rights", EACCES, kPid, [](Scene& s) { s.call.pid = s.stranger; }},
    Stage{"pinned_sibling", EINVAL, kGroup | kContent,
          [](Scene& s) {
              s.call.group = s.leader;
              s.call.attr.pinned = 1;
          }},
};

/// Lets no descriptor be opened any more.
void use_up_descriptors() {
    const int lowest = ::dup(STDIN_FILENO);
    if (lowest < 0) throw Failure{"dup failed"};
    ::close(lowest);
    const rlimit limit{static_cast<rlim_t>(lowest), static_cast<rlim_t>(lowest)};
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) throw Failure{"setrlimit failed"};
}

void check(const Stage& first, const Stage* second) {
    Child stranger{{}};
    Scene scene;
    if (::geteuid() == 0) {
        scene.stranger = stranger.pid();
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

bool tells(const Stage& first, const Stage& second) {
    return first.error != second.error && (first.arguments & second.arguments) == 0;
}

}  // namespace

std::vector<Case> open_order_cases() {
    std::vector<Case> cases;
    for (std::size_t i = 0; i < kStages.size(); ++i) {
        const Stage& first = kStages.at(i);
        cases.push_back({first.name, std::string{"a mistake in "} + first.name + " alone", kLevel2,
                         [&first] { check(first, nullptr); }});
        for (std::size_t j = i + 1; j < kStages.size(); ++j) {
            const Stage& second = kStages.at(j);
            if (!tells(first, second)) continue;
            cases.push_back({std::string{first.name} + ".before." + second.name,
                             std::string{"a mistake in "} + first.name + " is answered before one in " + second.name,
                             kLevel2, [&first, &second] { check(first, &second); }});
        }
    }
    return cases;
}

}  // namespace conformance

// usability_test.cpp: under a seccomp filter for perf_event_open every way to measure is reported as blocked.
#include "host/usability.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>

#include "host/child.h"

namespace anyperf::host {
namespace {

/// The usability of each way to measure ("blocked blocked …") in a child whose filter answers perf_event_open with
/// `action`.
std::string usability_under(unsigned action) {
    return in_child([action] {
        std::array filter{
            sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
            sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
            sock_filter BPF_STMT(BPF_RET | BPF_K, action),
            sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        const sock_fprog program{filter.size(), filter.data()};
        ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
        std::string text;
        for (const WayToMeasure& way : ways_to_measure(Root{})) text += std::string{id(way.usability.use)} + " ";
        return text;
    });
}

bool usable(const std::string& ways) {
    return ways.find("yes") != ways.npos || ways.find("user-only") != ways.npos;
}

TEST(Usability, IsBlockedUnderAFilterThatRefuses) {
    const std::string ways = usability_under(SECCOMP_RET_ERRNO | EPERM);
    EXPECT_FALSE(usable(ways)) << ways;
    EXPECT_NE(ways.find("blocked"), ways.npos) << ways;
}

TEST(Usability, IsBlockedUnderAFilterThatKillsAndTheProcessSurvives) {
    const std::string ways = usability_under(SECCOMP_RET_KILL_PROCESS);
    EXPECT_FALSE(usable(ways)) << ways;
    EXPECT_NE(ways.find("blocked"), ways.npos) << ways;
}

}  // namespace
}  // namespace anyperf::host

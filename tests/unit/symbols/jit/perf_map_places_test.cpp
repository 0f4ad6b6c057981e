#include "symbols/jit/perf_map_places.h"

#include <gtest/gtest.h>
#include <unistd.h>

namespace anyperf::symbols {
namespace {

TEST(PerfMapPlaces, TheInnermostNamespaceHasTheLastNumber) {
    EXPECT_EQ(innermost_pid("Name:\ta\nNgid:\t0\nNSpid:\t4711\t17\t1\nNSpgid:\t4711\t17\t1\n"), 1u);
    EXPECT_EQ(innermost_pid("Name:\ta\nNSpid:\t4711\n"), 4711u);
    EXPECT_EQ(innermost_pid("Name:\ta\n"), 0u);  // before Linux 4.1, and of a process that has ended
    EXPECT_EQ(innermost_pid(""), 0u);
}

TEST(PerfMapPlaces, AreHereAndInTheRootOfAProcessThatRuns) {
    EXPECT_EQ(perf_map_places(static_cast<std::uint32_t>(::getpid())).size(), 2u);
    EXPECT_EQ(perf_map_places(0xffff'fff0u).size(), 1u);
}

}  // namespace
}  // namespace anyperf::symbols

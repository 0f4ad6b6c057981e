// tracefs_test.cpp: tracepoints of the fixture machines.
#include "host/tracefs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anyperf::host {
namespace {

using testing::ElementsAre;

Root fixture(std::string_view machine) {
    return Root{std::string{ANYPERF_SOURCE_DIR "/tests/fixtures/machines/"} + std::string{machine}};
}

TEST(Tracefs, ListsSystemsAndTheirTracepoints) {
    const auto tracefs = Tracefs::find(fixture("intel-hybrid"));
    ASSERT_TRUE(tracefs);
    EXPECT_THAT(tracefs->systems(), ElementsAre("raw_syscalls", "sched", "syscalls"));
    EXPECT_THAT(tracefs->events("sched"), ElementsAre("sched_switch", "sched_wakeup"));
    EXPECT_TRUE(tracefs->events("nothing").empty());
    EXPECT_EQ(tracefs->id("sched", "sched_switch"), 314);
    EXPECT_FALSE(tracefs->id("sched", "nothing"));
}

TEST(Tracefs, SaysThatItIsNotMounted) {
    const auto tracefs = Tracefs::find(fixture("vm-without-pmu"));
    ASSERT_FALSE(tracefs);
    EXPECT_EQ(tracefs.error().fix, "as root: mount -t tracefs tracefs /sys/kernel/tracing");
}

}  // namespace
}  // namespace anyperf::host

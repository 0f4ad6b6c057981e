// tracefs_test.cpp: the tracepoints of the fixture machines.
#include "host/kernel/tracefs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "abi/event_ids.h"

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

TEST(Tracefs, ReportsThatItIsNotMounted) {
    const auto tracefs = Tracefs::find(fixture("vm-without-pmu"));
    ASSERT_FALSE(tracefs);
    EXPECT_EQ(tracefs.error().fix, "as root: mount -t tracefs tracefs /sys/kernel/tracing");
}

TEST(Tracefs, KnowsThePlaceOfAUprobe) {
    const std::filesystem::path machine = std::filesystem::path{testing::TempDir()} / "anyperf_uprobe_events";
    const auto tracing = machine / "sys/kernel/tracing";
    std::filesystem::create_directories(tracing / "events");
    std::ofstream{tracing / "uprobe_events"} << "p:probe_a/main /bin/a b:c:0x0000000000001234\n"
                                                "r:probe_a/main__return /bin/a:0x10(0x2000) arg1=%ax\n";
    const auto tracefs = Tracefs::find(Root{machine});
    ASSERT_TRUE(tracefs);
    EXPECT_FALSE(tracefs->user_probe("probe_a", "main")) << "a path with a blank can't be told from an argument";
    const auto at_return = tracefs->user_probe("probe_a", "main__return");
    ASSERT_TRUE(at_return);
    EXPECT_EQ(at_return->file, "/bin/a");
    EXPECT_EQ(at_return->offset, 0x10);
    EXPECT_EQ(at_return->counter_offset, 0x2000);
    EXPECT_TRUE(at_return->at_return);
    EXPECT_FALSE(tracefs->user_probe("sched", "sched_switch"));
    EXPECT_TRUE(tracefs->is_user_probe("probe_a", "main")) << "whatever its path";
    abi::Attr attr{};
    attr.type = abi::kTypeTracepoint;
    EXPECT_TRUE(happens_in_user_mode(attr, "probe_a:main", Root{machine}));
    EXPECT_TRUE(happens_in_user_mode(attr, "probe_a:main__return:u", Root{machine}));
    EXPECT_FALSE(happens_in_user_mode(attr, "sched:sched_switch", Root{machine}));
    EXPECT_TRUE(happens_in_user_mode(attr, "syscalls:sys_enter_read", Root{machine}));
    std::filesystem::remove_all(machine);
}

}  // namespace
}  // namespace anyperf::host

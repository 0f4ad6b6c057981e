// topdown_test.cpp: which CPUs have events for --topdown.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/stat/events/default_events.h"
#include "support/machine_files.h"

namespace anyperf::cli::stat {
namespace {

using testing::HasSubstr;

std::string machine(const char* name) {
    return std::string{ANYPERF_SOURCE_DIR "/tests/fixtures/machines/"} + name;
}

TEST(Topdown, HasOneGroupOfTheBigCoresOfAHybridCpu) {
    const auto events = topdown_events(host::Root{machine("intel-hybrid")});
    ASSERT_TRUE(events);
    EXPECT_THAT(*events, HasSubstr("{cpu_core/slots/,cpu_core/topdown-retiring/,"));
}

TEST(Topdown, IsRefusedOnCpusWithoutTheEvents) {
    EXPECT_THAT(topdown_events(host::Root{machine("vm-without-pmu")}).error().cause, HasSubstr("no top-down events"));
    EXPECT_THAT(topdown_events(host::Root{machine("amd-zen")}).error().cause, HasSubstr("no top-down events"));
}

TEST(Topdown, RefusalNamesTheFileThatIsMissing) {
    MachineFiles machine;
    EXPECT_THAT(topdown_events(machine.root()).error().cause, HasSubstr("/cpu/events/topdown-retiring"));
    machine.file("/sys/bus/event_source/devices/cpu/events/topdown-retiring", "event=0xc2,umask=0x00");
    EXPECT_THAT(topdown_events(machine.root()).error().cause, HasSubstr("/cpu/events/slots"));
}

TEST(Topdown, IsRefusedWithTheEventsOfOlderCpus) {
    EXPECT_THAT(topdown_events(host::Root{machine("intel-skylake-server")}).error().cause,
                HasSubstr("before Ice Lake"));
}

}  // namespace
}  // namespace anyperf::cli::stat

// virtual_events_test.cpp: event names of the machine's own CPU, counted by a virtual PMU that models another CPU.
#include "cli/stat/events/virtual_events.h"

#include <gtest/gtest.h>

#include "abi/event_ids.h"

namespace anyperf::cli::stat {
namespace {

std::uint64_t virtual_config_of(const std::string& name, std::uint64_t config) {
    events::Event event;
    event.source_text = name;
    event.attr.type = abi::kTypeRaw;
    event.attr.config = config;
    return for_virtual_pmu(event).attr.config;
}

TEST(VirtualEvents, WithAmdNamesUseTheVirtualPmusCodes) {
    EXPECT_EQ(virtual_config_of("amd64_fam17h_zen2::RETIRED_INSTRUCTIONS:u", 0xc0), 0xc0);
    EXPECT_EQ(virtual_config_of("amd64_fam17h_zen2::RETIRED_BRANCH_INSTRUCTIONS", 0xc2), 0xc4);
    EXPECT_EQ(virtual_config_of("zen3::RETIRED_TAKEN_BRANCH_INSTRUCTIONS", 0xc4), 0x20c4);
}

TEST(VirtualEvents, WithUnsupportedAmdNamesDoNotBecomeIntelEventsOfTheSameCode) {
    EXPECT_EQ(virtual_config_of("amd64_fam17h_zen2::RETIRED_UOPS", 0xc1), 0xffff);
    EXPECT_EQ(virtual_config_of("amd64_fam17h_zen2::RETIRED_INSTRUCTIONS:c=1", 0x10000c0), 0xffff);
}

TEST(VirtualEvents, WithIntelNamesOrNumbersAreUnchanged) {
    EXPECT_EQ(virtual_config_of("skl::BR_INST_RETIRED:CONDITIONAL", 0x1c4), 0x1c4);
    EXPECT_EQ(virtual_config_of("r00c4", 0xc4), 0xc4);
}

}  // namespace
}  // namespace anyperf::cli::stat

// virtual_events_test.cpp: the names of a machine's own CPU, counted by a virtual PMU that is another CPU's.
#include "cli/stat/virtual_events.h"

#include <gtest/gtest.h>

#include "abi/event_ids.h"

namespace anyperf::cli::stat {
namespace {

std::uint64_t asked_for(const std::string& typed, std::uint64_t config) {
    events::Event event;
    event.typed = typed;
    event.attr.type = abi::kTypeRaw;
    event.attr.config = config;
    return in_user_mode(event).attr.config;
}

TEST(VirtualEvents, OfAmdAreAskedForByTheVirtualPmusCodes) {
    EXPECT_EQ(asked_for("amd64_fam17h_zen2::RETIRED_INSTRUCTIONS:u", 0xc0), 0xc0);
    EXPECT_EQ(asked_for("amd64_fam17h_zen2::RETIRED_BRANCH_INSTRUCTIONS", 0xc2), 0xc4);
    EXPECT_EQ(asked_for("zen3::RETIRED_TAKEN_BRANCH_INSTRUCTIONS", 0xc4), 0x20c4);
}

TEST(VirtualEvents, OfAmdThatItHasNotAreNotTakenForOthersOfTheSameCode) {
    EXPECT_EQ(asked_for("amd64_fam17h_zen2::RETIRED_UOPS", 0xc1), 0xffff);
    EXPECT_EQ(asked_for("amd64_fam17h_zen2::RETIRED_INSTRUCTIONS:c=1", 0x10000c0), 0xffff);
}

TEST(VirtualEvents, OfIntelAndNumbersStayAsTheyAre) {
    EXPECT_EQ(asked_for("skl::BR_INST_RETIRED:CONDITIONAL", 0x1c4), 0x1c4);
    EXPECT_EQ(asked_for("r00c4", 0xc4), 0xc4);
}

}  // namespace
}  // namespace anyperf::cli::stat

// event_names_test.cpp: the C++ API of the catalog: list, match, encode and explain. The machine is a directory.
#include "anyperf/event_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/events/catalog/other_machine.h"

namespace anyperf::events {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kSkylake = "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 94\nstepping\t: 3\n";

class Names : public testing::Test {
  protected:
    Names() { files.write("/proc/cpuinfo", kSkylake); }
    catalog::OtherMachine files;
};

TEST_F(Names, ListTheActivePmusOfAMachine) {
    std::vector<std::string> active;
    for (const PmuName& pmu : EventNames::read(files.directory()).pmus())
        if (pmu.active) active.push_back(pmu.name);
    EXPECT_THAT(active, ElementsAre("skl", "perf", "perf_raw"));
}

TEST_F(Names, ListBothCoreTypesOfAHybridAsActive) {
    files.write("/proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 189\nstepping\t: 1\n");
    std::vector<std::string> active;
    for (const PmuName& pmu : EventNames::read(files.directory()).pmus())
        if (pmu.active) active.push_back(pmu.name);
    EXPECT_THAT(active, ElementsAre("lnl_lnc", "lnl_skt", "perf", "perf_raw"));
}

TEST_F(Names, OfArmCpusAreFoundByImplementerAndPart) {
    files.write("/proc/cpuinfo", "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n");
    const auto encoded = EventNames::read(files.directory()).encode("CPU_CYCLES");
    ASSERT_TRUE(encoded);
    EXPECT_EQ(encoded->pmu, "arm_n1");
    EXPECT_EQ(encoded->attr.config, 0x11U);
}

TEST_F(Names, EncodeAnEventOfThisMachineWithoutItsPmu) {
    const auto encoded = EventNames::read(files.directory()).encode("INST_RETIRED:ANY_P");
    ASSERT_TRUE(encoded);
    EXPECT_EQ(encoded->attr.config, 0xc0U);
    EXPECT_TRUE(encoded->active);
    EXPECT_THAT(encoded->canonical, HasSubstr("skl::INST_RETIRED:ANY_P:"));
}

TEST_F(Names, EncodeAnotherCpusEventByItsShortPmuName) {
    const auto encoded = EventNames::read(files.directory()).encode("zen4::RETIRED_INSTRUCTIONS:u");
    ASSERT_TRUE(encoded) << encoded.error().cause;
    EXPECT_EQ(encoded->pmu, "amd64_fam19h_zen4");
    EXPECT_EQ(encoded->attr.config, 0xc0U);
    EXPECT_FALSE(encoded->active);
}

TEST_F(Names, EncodeAnUncoreEventWhoseTypeIsNotKnownHere) {
    const auto encoded = EventNames::read(files.directory()).encode("skx_unc_cha0::UNC_C_CLOCKTICKS");
    ASSERT_TRUE(encoded) << encoded.error().cause;
    EXPECT_FALSE(encoded->type_known);
    EXPECT_EQ(encoded->kernel_pmu, "uncore_cha_0");
}

TEST_F(Names, MarkTheWrongWordAndSuggestAlternatives) {
    const auto refused = EventNames::read(files.directory()).encode("skl::INST_RETIRED:ANYP");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("skl::INST_RETIRED:ANYP\n                      ^~~~"));
    EXPECT_THAT(refused.error().fix, HasSubstr("ANY_P"));
}

TEST_F(Names, ReportWhichCpusHaveAnUnknownEvent) {
    const auto refused = EventNames::read(files.directory()).encode("RETIRED_INSTRUCTIONS");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().cause, HasSubstr("amd64_"));
}

TEST_F(Names, MatchEventsAndMasks) {
    std::vector<std::string> found;
    for (const EventName& event : EventNames::read(files.directory()).match("skl::*L1_MISS"))
        for (const MaskName& mask : event.masks) found.push_back(event.full() + ':' + mask.name);
    EXPECT_THAT(found, Contains("skl::MEM_LOAD_RETIRED:L1_MISS"));
}

TEST_F(Names, MatchWordsInAnyOrder) {
    const auto found = EventNames::read(files.directory()).match("miss mem_load");
    ASSERT_FALSE(found.empty());
    for (const EventName& event : found) EXPECT_EQ(event.pmu, "skl");
}

TEST_F(Names, ExplainAnAttrByItsEventNames) {
    const auto names = EventNames::read(files.directory());
    abi::Attr attr;
    attr.type = 4;
    attr.config = 0xc0;
    EXPECT_THAT(names.explain(attr), ElementsAre("skl::INSTRUCTION_RETIRED", "skl::INST_RETIRED:ANY_P"));
}

TEST_F(Names, OfRiscvFirmwareEventsEncodeTheFirmwareBit) {
    files.write("/proc/cpuinfo", "processor\t: 0\nhart\t: 0\nisa\t: rv64imafdc\n");
    const auto encoded = EventNames::read(files.directory()).encode("FW_SET_TIMER");
    ASSERT_TRUE(encoded) << encoded.error().cause;
    EXPECT_EQ(encoded->attr.config, 0x8000000000000005U);
}

}  // namespace
}  // namespace anyperf::events

// pmu_test.cpp: the PMUs in sysfs and their formats, on the fixture machines.
#include "host/hardware/pmu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/machine_files.h"

namespace anyperf::host {
namespace {

using testing::ElementsAre;

std::vector<Pmu> pmus_of(std::string_view machine) {
    return read_pmus(Root{std::string{ANYPERF_SOURCE_DIR "/tests/fixtures/machines/"} + std::string{machine}});
}

TEST(ParseFormat, ReadsTheBitRangesOfOneConfigWord) {
    EXPECT_EQ(parse_format("event", "config:0-7"), (Format{"event", 0, {{0, 7}}}));
    EXPECT_EQ(parse_format("inv", "config:23"), (Format{"inv", 0, {{23, 23}}}));
    EXPECT_EQ(parse_format("event", "config3:0-7,32-35"), (Format{"event", 3, {{0, 7}, {32, 35}}}));
}

// perf keeps the bits of a format as a bitmap (perf_pmu__set_format() in tools/perf/util/pmu.c).
TEST(ParseFormat, TheRangesAscendWhateverTheirOrderInTheFile) {
    const auto format = parse_format("event", "config:32-35,0-7");
    ASSERT_TRUE(format);
    EXPECT_EQ(format->spread(0xabc), 0xa000000bcull);
}

TEST(ParseFormat, RefusesInvalidFormats) {
    for (const char* text :
         {"", "config", "config:", "config5:0", "config:64", "config:7-0", "config:0-", "config:0,", "config:a"})
        EXPECT_FALSE(parse_format("x", text)) << text;
}

TEST(Format, SpreadsAValueOverItsRanges) {
    const Format split{"event", 0, {{0, 7}, {32, 35}}};
    EXPECT_EQ(split.width(), 12);
    EXPECT_EQ(split.mask(), 0xf000000ffull);
    EXPECT_EQ(split.spread(0xabc), 0xa000000bcull);
    const Format whole{"event", 0, {{0, 63}}};
    EXPECT_EQ(whole.spread(~0ull), ~0ull);
}

TEST(ReadPmus, SortsNumberedPmusByNumber) {
    std::vector<std::string> names;
    for (const Pmu& pmu : pmus_of("intel-skylake-server"))
        if (pmu.name().starts_with("uncore_imc")) names.push_back(pmu.name());
    EXPECT_THAT(names, ElementsAre("uncore_imc_0", "uncore_imc_1", "uncore_imc_2", "uncore_imc_10"));
}

TEST(ReadPmus, DistinguishesCoreFromUncorePmus) {
    const auto pmus = pmus_of("intel-hybrid");
    const auto core = std::ranges::find(pmus, "cpu_core", &Pmu::name);
    EXPECT_TRUE(core->is_core());
    EXPECT_FALSE(core->is_uncore());
    EXPECT_THAT(core->cpus(), ElementsAre(0, 1, 2, 3));
    EXPECT_EQ(core->type(), 4);
    EXPECT_EQ(core->capability("branches"), "32");
    const auto power = std::ranges::find(pmus, "power", &Pmu::name);
    EXPECT_TRUE(power->is_uncore());
    EXPECT_EQ(power->event("ENERGY-PKG")->unit, "Joules");
    EXPECT_EQ(power->event("energy-pkg")->terms, "event=0x02");
    EXPECT_EQ(power->event("nothing"), nullptr);
    EXPECT_EQ(power->format("event")->bits, (std::vector<BitRange>{{0, 7}}));
}

TEST(ReadPmus, ReplacesControlCharactersInAUnit) {
    MachineFiles files;
    const std::string folder = "/sys/bus/event_source/devices/power/";
    files.file(folder + "type", "9").file(folder + "events/a", "event=1").file(folder + "events/a.unit", "\033[1mJ");
    const auto pmus = read_pmus(files.root());
    EXPECT_EQ(pmus.front().event("a")->unit, "?[1mJ");
}

TEST(ReadPmus, TreatsArmSpeAsFollowingTasksDespiteItsCpumask) {
    const auto pmus = pmus_of("arm-big-little");
    const auto spe = std::ranges::find(pmus, "arm_spe_0", &Pmu::name);
    EXPECT_FALSE(spe->is_uncore());
    EXPECT_THAT(spe->cpus(), ElementsAre(4, 5));
}

TEST(ReadPmus, FindsNothingWithoutSysfs) {
    EXPECT_TRUE(pmus_of("there-is-no-such-machine").empty());
}

}  // namespace
}  // namespace anyperf::host

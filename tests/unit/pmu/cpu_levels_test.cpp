// cpu_levels_test.cpp: the levels of the psABI, and that CPUID and /proc/cpuinfo of a level are made of them.
#include "pmu/cpu/cpu_levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "pmu/cpu/cpu_models.h"
#include "run/facts.h"

namespace anyperf::pmu {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::set<std::string_view> flags_added_by(unsigned level) {
    std::set<std::string_view> flags;
    for (const LevelFeature& feature : kLevelFeatures)
        if (feature.level == level && !feature.flag.empty()) flags.insert(feature.flag);
    return flags;
}

// x86-64 psABI 1.0, table 3.1; XSAVE, FSGSBASE and ERMS as the head of cpu_levels.h says.
TEST(Levels, AddTheFeaturesOfThePsabi) {
    EXPECT_EQ(flags_added_by(2),
              (std::set<std::string_view>{"cx16", "lahf_lm", "popcnt", "pni", "sse4_1", "sse4_2", "ssse3", "xsave"}));
    EXPECT_EQ(flags_added_by(3), (std::set<std::string_view>{"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "abm",
                                                             "movbe", "fsgsbase", "erms"}));
    EXPECT_EQ(flags_added_by(4),
              (std::set<std::string_view>{"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}));
}

TEST(Levels, NameEachBitOnce) {
    std::set<std::pair<FeatureWord, unsigned>> bits;
    for (const LevelFeature& feature : kLevelFeatures) EXPECT_TRUE(bits.insert({feature.word, feature.bit}).second);
}

TEST(Levels, HaveRowsThatFitAndDoNotDependOnTheHost) {
    for (const unsigned level : {2u, 3u, 4u}) {
        const auto rows = level_rows(level, kLevel4);
        EXPECT_LT(rows.size() + 1, run::kIdentityRows);
        for (const CpuidRow& row : rows) EXPECT_EQ(row.keep, CpuidRegisters{}) << row.what;
        for (std::size_t i = 0; i < rows.size(); ++i)
            for (std::size_t other = 0; other < i; ++other)
                EXPECT_FALSE(rows[other].matches(rows[i].leaf, rows[i].subleaf)) << rows[i].what;
    }
}

// AMD's Zen 4 and Zen 5: the host's XSAVE writes there, whatever a program has been shown.
TEST(Levels, ShowTheStateWhereTheHostSavesIt) {
    constexpr StateLayout kAmd{StateComponent{2, 256, 576, 3}, StateComponent{5, 64, 832, 4},
                               StateComponent{6, 512, 896, 4}, StateComponent{7, 1024, 1408, 4}};
    const auto rows = level_rows(4, kLevel4, kAmd);
    const auto row = [&](std::uint32_t subleaf) {
        return std::ranges::find_if(rows, [&](const CpuidRow& each) { return each.matches(0xd, subleaf); })->value;
    };
    EXPECT_EQ(row(0), (CpuidRegisters{0xe7, 2432, 2432, 0}));
    EXPECT_EQ(row(6), (CpuidRegisters{512, 896, 0, 0}));
}

TEST(Levels, ShowOneCpuinfoForEachCpu) {
    const std::string text = level_cpuinfo(3, kLevel3, 2);
    EXPECT_THAT(text, HasSubstr("processor\t: 1\n"));
    EXPECT_THAT(text, Not(HasSubstr("processor\t: 2\n")));
    EXPECT_THAT(text, HasSubstr(" avx2 "));
    EXPECT_THAT(text, Not(HasSubstr("avx512")));
}

TEST(Levels, OfAModelAreInTheTableOfModels) {
    EXPECT_EQ(level_of(CpuModel::level_2), 2u);
    EXPECT_EQ(level_of(CpuModel::level_4), 4u);
    EXPECT_EQ(level_of(CpuModel::skylake_client), 0u);
    EXPECT_EQ(level_of(CpuModel::host), 0u);
}

TEST(Levels, NameWhatNoCpuLacks) {
    EXPECT_EQ(features_missing(1), "") << "every x86-64 CPU has the baseline";
}

}  // namespace
}  // namespace anyperf::pmu

// instances_test.cpp: which lines are added up because one name became several events.
#include "cli/stat/places/instances.h"

#include <gtest/gtest.h>

#include "unit/cli/stat_report.h"

namespace anyperf::cli::stat {
namespace {

Line uncore(const std::string& pmu, std::uint64_t value, const std::string& typed = "uncore_imc/clockticks/") {
    Line line = line_of(pmu + "/clockticks/", 20, 0, value);
    line.event.source_text = typed;
    line.event.pmu = pmu;
    line.event.cpu_wide_only = true;
    return line;
}

TEST(Instances, OfOneNameAreAddedUpUnderThatName) {
    const auto lines =
        merged_instances({uncore("uncore_imc_0", 5), line_of("cycles", 0, 0, 1), uncore("uncore_imc_1", 7)});
    ASSERT_EQ(lines.size(), 2);
    EXPECT_EQ(lines[0].name, "uncore_imc/clockticks/");
    EXPECT_EQ(lines[0].count.value, 12);
    EXPECT_EQ(lines[1].name, "cycles");
}

TEST(Instances, OfDifferentPlacesStayApart) {
    auto other = uncore("uncore_imc_1", 7);
    other.where = "S1";
    EXPECT_EQ(merged_instances({uncore("uncore_imc_0", 5), other}).size(), 2);
}

TEST(Instances, OfANameTypedTwiceAreTwoSums) {
    const auto lines = merged_instances(
        {uncore("uncore_imc_0", 5), uncore("uncore_imc_1", 7), uncore("uncore_imc_0", 1), uncore("uncore_imc_1", 2)});
    ASSERT_EQ(lines.size(), 2);
    EXPECT_EQ(lines[1].count.value, 3);
}

TEST(Instances, ThatAreCoresOfAHybridCpuStayApart) {
    auto big = uncore("cpu_core", 5);
    auto small = uncore("cpu_atom", 7);
    big.event.cpu_wide_only = small.event.cpu_wide_only = false;
    EXPECT_EQ(merged_instances({big, small}).size(), 2);
}

TEST(Instances, CountIfOneOfThemCounts) {
    auto refused = uncore("uncore_imc_0", 0);
    refused.refusal = Error{"", "", ""};
    const auto lines = merged_instances({refused, uncore("uncore_imc_1", 7)});
    ASSERT_EQ(lines.size(), 1);
    EXPECT_EQ(lines[0].status(), Status::counted);
}

}  // namespace
}  // namespace anyperf::cli::stat

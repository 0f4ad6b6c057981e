// gate_test.cpp: which changes of a count fail the gate of `stat --baseline`, what makes runs incomparable, and what is
// printed.
#include "cli/stat/gate/gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/cli/stat_report.h"

namespace anyperf::cli::stat {
namespace {

using testing::HasSubstr;

Comparison compared(double before, std::uint64_t now, std::vector<Gate> gates) {
    Report report;
    report.lines = {line_of("a", 1, 2, now)};
    return compare(std::vector<BaselineValue>{{"a", "", "", before}, {"wall_ns", "", "", 1}}, values_of(report), gates);
}

TEST(Gate, PassesAtItsLimitAndFailsAboveIt) {
    EXPECT_TRUE(compared(100, 105, {{"", 5}}).passed);
    EXPECT_FALSE(compared(100, 106, {{"", 5}}).passed);
    EXPECT_TRUE(compared(100, 50, {{"", 0}}).passed);
}

TEST(Gate, ForOneEventOverridesTheGeneralOneInAnyOrder) {
    EXPECT_TRUE(compared(100, 150, {{"", 5}, {"a", 60}}).passed);
    EXPECT_FALSE(compared(100, 150, {{"a", 40}, {"", 500}}).passed);
}

TEST(Gate, OfTheSameKindIsOverriddenByTheLastOne) {
    EXPECT_TRUE(compared(100, 150, {{"", 5}, {"", 60}}).passed);
    EXPECT_FALSE(compared(100, 150, {{"", 60}, {"", 5}}).passed);
    EXPECT_TRUE(compared(100, 150, {{"a", 5}, {"a", 60}}).passed);
}

TEST(Gate, FailsOnAnyGrowthFromZero) {
    EXPECT_FALSE(compared(0, 1, {{"", 1e9}}).passed);
    EXPECT_TRUE(compared(0, 0, {{"", 0}}).passed);
}

TEST(Gate, FailsForAnEventThatWasNotCounted) {
    const auto comparison = compared(100, 100, {{"b", 5}});
    EXPECT_FALSE(comparison.passed);
    EXPECT_THAT(to_table(comparison), HasSubstr("b: not counted in both runs"));
}

TEST(Gate, ChecksTimeOnlyIfItIsNamed) {
    Report report;
    report.wall_ns = 1000;
    report.lines = {line_of("a", 1, 2, 1)};
    const std::vector<BaselineValue> earlier{{"a", "", "", 1}, {"wall_ns", "", "", 1}};
    EXPECT_TRUE(compare(earlier, values_of(report), std::vector<Gate>{{"", 5}}).passed);
    EXPECT_FALSE(compare(earlier, values_of(report), std::vector<Gate>{{"wall_ns", 5}}).passed);
}

TEST(Comparison, PairsANameThatOccursTwiceInOrder) {
    Report report;
    report.lines = {line_of("a", 1, 2, 10), line_of("a", 1, 2, 20)};
    const auto comparison =
        compare(std::vector<BaselineValue>{{"a", "", "", 10}, {"a", "", "", 20}}, values_of(report), {});
    ASSERT_GE(comparison.differences.size(), 2);
    EXPECT_EQ(comparison.differences[0].growth(), 0);
    EXPECT_EQ(comparison.differences[1].growth(), 0);
}

TEST(Gate, ForANameAppliesToTheUserModePartOfIt) {
    Report report;
    report.lines = {line_of("a:u", 1, 2, 120)};
    const std::vector<BaselineValue> earlier{{"a:u", "", "", 100}};
    EXPECT_FALSE(compare(earlier, values_of(report), std::vector<Gate>{{"a", 5}}).passed);
}

TEST(Gate, IsZeroByDefaultForWhatRepeatsInADeterministicRun) {
    Report report;
    report.lines = {line_of("a", 1, 2, 101), line_of("b", 1, 3, 101)};
    report.lines[0].runs = {101, 101};
    report.lines[1].runs = {100, 102};
    const Baseline earlier{{}, {{"a", "", "", 100}, {"b", "", "", 100}}};
    Options options;
    EXPECT_EQ(check_gate(earlier, report, options).verdict, Verdict::no_gate);
    options.backend.machine.deterministic = true;
    const auto result = check_gate(earlier, report, options);
    EXPECT_EQ(result.verdict, Verdict::above);
    EXPECT_THAT(verdict_line(result), HasSubstr("a +1.00% (+1), limit 0%"));
    EXPECT_EQ(result.gates.size(), 1U);
}

TEST(Gate, NamesACountAboveItsOwnLimitEvenIfAnotherGrewMore) {
    Report report;
    report.lines = {line_of("a", 1, 2, 108), line_of("b", 1, 3, 102)};
    const Baseline earlier{{}, {{"a", "", "", 100}, {"b", "", "", 100}}};
    Options options;
    options.gates = {{"a", 10}, {"b", 1}};
    EXPECT_THAT(verdict_line(check_gate(earlier, report, options)), HasSubstr("1 above its limit: b +2.00%"));
}

TEST(Gate, ThatPassedSaysSoIfEveryCountShrank) {
    Report report;
    report.lines = {line_of("a", 1, 2, 97)};
    const Baseline earlier{{}, {{"a", "", "", 100}}};
    Options options;
    options.gates = {{"a", 10}};
    EXPECT_EQ(verdict_line(check_gate(earlier, report, options)), "gate passed: nothing with a limit grew");
}

TEST(Gate, ThatPassedIgnoresGrowthWithoutALimit) {
    Report report;
    report.lines = {line_of("a", 1, 2, 97), line_of("b", 1, 3, 200)};
    const Baseline earlier{{}, {{"a", "", "", 100}, {"b", "", "", 100}}};
    Options options;
    options.gates = {{"a", 10}};
    EXPECT_EQ(verdict_line(check_gate(earlier, report, options)), "gate passed: nothing with a limit grew");
}

TEST(Gate, NamesOfLimitsMustBeCounted) {
    const std::vector<std::string> counted{"instructions:u", "branches"};
    EXPECT_TRUE(check_names_of_gates(std::vector<Gate>{{"instructions:u", 1}, {"wall_ns", 5}, {"", 1}}, counted));
    EXPECT_TRUE(check_names_of_gates(std::vector<Gate>{{"branches:u", 1}}, counted)) << "as the report may call it";
    const auto refused = check_names_of_gates(std::vector<Gate>{{"branchs", 1}}, counted);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().fix, HasSubstr("branches"));
}

TEST(Runs, OfOtherArgumentsOrOnAnotherCpuAreNotComparable) {
    const RunIdentity earlier{.command = {"a", "b"},
                              .version = "1",
                              .mode = "virtual",
                              .cpu = "x",
                              .settings = "",
                              .environment = "e",
                              .program = "p",
                              .repeats = true};
    EXPECT_TRUE(obstacles(earlier, earlier).empty());
    const auto differs = [&](auto change) {
        RunIdentity now = earlier;
        change(now);
        return obstacles(earlier, now);
    };
    EXPECT_THAT(differs([](RunIdentity& now) { now.command = {"a", "c"}; }).at(0), HasSubstr("'a b' then, 'a c' now"));
    EXPECT_THAT(differs([](RunIdentity& now) { now.command = {"z"}; }).at(0), HasSubstr("the command"));
    EXPECT_THAT(differs([](RunIdentity& now) { now.cpu = "y"; }).at(0), HasSubstr("the CPU"));
    EXPECT_THAT(differs([](RunIdentity& now) { now.mode = "kernel"; }).at(0), HasSubstr("the kernel now"));
    EXPECT_THAT(differs([](RunIdentity& now) { now.version = "2"; }).at(0), HasSubstr("version"));
    EXPECT_THAT(differs([](RunIdentity& now) { now.settings = "--seed 1"; }).at(0), HasSubstr("--seed 1"));
    EXPECT_THAT(differs([](RunIdentity& now) { now.environment = "f"; }).at(0), HasSubstr("env -i"));
    EXPECT_TRUE(differs([](RunIdentity& now) { now.program = "q"; }).empty()) << "another build is what a gate is for";
    EXPECT_TRUE(obstacles(RunIdentity{}, earlier).empty()) << "an older report says nothing";
}

TEST(Comparison, ShowsEventsThatOnlyOneRunHas) {
    Report report;
    report.lines = {line_of("new", 1, 2, 7)};
    const auto table = to_table(compare(std::vector<BaselineValue>{{"old", "", "", 3}}, values_of(report), {}));
    EXPECT_THAT(table, HasSubstr("old"));
    EXPECT_THAT(table, HasSubstr("new"));
}

}  // namespace
}  // namespace anyperf::cli::stat

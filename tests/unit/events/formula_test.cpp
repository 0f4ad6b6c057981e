// formula_test.cpp: formulas of metrics are computed as by perf 6.1 (tools/perf/tests/expr.c has some of these).
#include "events/vendor/formula.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "events/vendor/vendor_lists.h"

namespace anyperf::vendor {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

FormulaValues values(bool smt = true) {
    static const std::map<std::string, double> kCounts{
        {"FOO", 1}, {"BAR", 2}, {"cpu/event=1,umask=0x2/", 7}, {"a.b:u", 9}};
    return {.count = [](const std::string& name) { return kCounts.contains(name) ? kCounts.at(name) : std::nan(""); },
            .literal = [smt](const std::string& name) { return name == "#smt_on" ? smt : std::nan(""); },
            .has_event = [](const std::string& name) { return kCounts.contains(name); },
            .sources = [](const std::string&) { return 3.0; }};
}

double computed(std::string_view text, bool smt = true) {
    const auto formula = Formula::parse(text);
    EXPECT_TRUE(formula.has_value()) << text << ": " << (formula ? "" : formula.error().cause);
    return formula ? formula->evaluate(values(smt)) : std::nan("");
}

TEST(Formula, ComparesTheCpuAsALiteral) {
    const auto formula =
        Formula::parse("FOO if strcmp_cpuid_str(0x410fd493) | strcmp_cpuid_str(0x410fd490) ^ 1 else BAR");
    ASSERT_TRUE(formula.has_value());
    EXPECT_THAT(formula->literals(),
                testing::ElementsAre("#strcmp_cpuid_str(0x410fd493)", "#strcmp_cpuid_str(0x410fd490)"));
    auto machine = values(true);
    machine.literal = [](const std::string&) { return 1.0; };
    EXPECT_EQ(formula->evaluate(machine), 1);
    machine.literal = [](const std::string& name) { return name == "#strcmp_cpuid_str(0x410fd490)" ? 1.0 : 0.0; };
    EXPECT_EQ(formula->evaluate(machine), 2);
}

TEST(Formula, HasTheOperatorsOfPerf) {
    const std::pair<const char*, double> rows[] = {
        {"1+1", 2},
        {"FOO+BAR", 3},
        {"(BAR/2)%2", 1},
        {"1 - -4", 5},
        {"(FOO-1)*2 + (BAR/2)%2 - -4", 5},
        {"1-1 | 1", 1},
        {"1-1 & 1", 0},
        {"6 ^ 3", 5},
        {"min(1,2) + 1", 2},
        {"max(1,2) + 1", 3},
        {"1+1 if 3*4 else 0", 2},
        {"1 if 0 else 2 if 0 else 3", 3},
        {"1.1 + 2.1", 3.2},
        {".1 + 2.", 2.1},
        {"d_ratio(1, 2)", 0.5},
        {"d_ratio(2.5, 0)", 0},
        {"1.1 < 2.2", 1},
        {"2.2 > 1.1", 1},
        {"2.2 < 1.1", 0},
        {"1e3 * 2e-3", 2},
        {"10 - 3 - 2", 5},
        {"12 / 3 / 2", 2},
        {"2 + 3 * 4", 14},
        {"source_count(FOO) * 2", 6},
        {"has_event(FOO) + has_event(BAZ)", 1},
        {"cpu@event\\=1\\,umask\\=0x2@ + a.b:u", 16},
        {"5 if #SMT_on else 6", 5},
    };
    for (const auto& [text, value] : rows) EXPECT_DOUBLE_EQ(computed(text), value) << text;
    EXPECT_DOUBLE_EQ(computed("5 if #smt_on else 6", false), 6);
}

TEST(Formula, DividedByZeroIsNotANumber) {
    for (const char* text : {"FOO/0", "BAR/(FOO - 1)", "FOO % 0", "1 / NONE"})
        EXPECT_TRUE(std::isnan(computed(text))) << text;
}

TEST(Formula, NamesItsEventsOnce) {
    const auto formula = Formula::parse("(A.B + C + A.B) / max(D@x\\=1@, 3)");
    ASSERT_TRUE(formula.has_value());
    EXPECT_THAT(formula->names(values()), ElementsAre("A.B", "C", "D/x=1/"));
}

TEST(Formula, NeedsOnlyTheEventsOfTheBranchThatLiteralsChoose) {
    const auto formula = Formula::parse("A / B if #SMT_on else C");
    ASSERT_TRUE(formula.has_value());
    EXPECT_THAT(formula->names(values(true)), ElementsAre("A", "B"));
    EXPECT_THAT(formula->names(values(false)), ElementsAre("C"));
    EXPECT_THAT(formula->literals(), ElementsAre("#smt_on"));
}

TEST(Formula, RefusesInvalidFormulasAndNamesThePlace) {
    const std::pair<const char*, const char*> rows[] = {{"", "a value"},
                                                        {"FOO +", "a value"},
                                                        {"(FOO", "')'"},
                                                        {"min(1)", "','"},
                                                        {"1 if 2", "'else'"},
                                                        {"FOO BAR", "an operator"},
                                                        {"has_event(1 + 2)", "')'"}};
    for (const auto& [text, expected] : rows) {
        const auto formula = Formula::parse(text);
        ASSERT_FALSE(formula.has_value()) << text;
        EXPECT_THAT(formula.error().cause, HasSubstr(expected)) << text;
    }
    EXPECT_FALSE(Formula::parse(std::string(100'000, '(')).has_value());
    EXPECT_FALSE(Formula::parse(std::string(100'000, '-')).has_value());
}

TEST(Formula, OfEachMetricOfTheListsIsRead) {
    int formulas = 0;
    for (const ListRow& list : lists())
        for (const MetricRow& metric : metrics(list)) {
            const auto formula = Formula::parse(text(metric.formula));
            EXPECT_TRUE(formula.has_value()) << text(metric.name) << ": " << (formula ? "" : formula.error().cause);
            ++formulas;
        }
    EXPECT_GT(formulas, 4000);
}

}  // namespace
}  // namespace anyperf::vendor

// metric_values_test.cpp: metrics of -M, computed from the lines of a report made by hand.
#include "cli/stat/vendor_metrics/metric_values.h"

#include <gtest/gtest.h>

#include "cli/stat/output/writers.h"
#include "unit/cli/stat_report.h"

namespace anyperf::cli::stat {
namespace {

/// A line of an event of -M, in a place.
Line input(const std::string& event, std::uint64_t value, std::string where = "") {
    Line line = line_of(event, 4, 0xc0, value);
    line.event.source_text = event;
    line.metric_set = 1;
    line.where = std::move(where);
    return line;
}

/// A report with the metrics of these names of perf's list for Skylake.
Report report_of(std::vector<Line> lines, const std::vector<std::string>& names) {
    const MetricSource source{
        *vendor::list_called("skylake"), events::Machine::of_cpu("skylake").value(), {host::Root{"/"}, false, false}};
    PlannedMetrics metrics;
    for (const auto& name : names)
        metrics.push_back({MetricFormula::resolve(source, *vendor::find_metric(*source.list, name)), 1, {}});
    Report report;
    report.lines = std::move(lines);
    report.metrics = std::make_shared<const PlannedMetrics>(std::move(metrics));
    return report;
}

const std::vector<Line> kCounted{input("INST_RETIRED.ANY", 600), input("CPU_CLK_UNHALTED.THREAD", 400)};

TEST(MetricValue, IsTheFormulaOfTheCounts) {
    const auto report = report_of(kCounted, {"tma_info_thread_ipc"});
    const auto values = metric_values(report);
    ASSERT_EQ(values.size(), 1U);
    EXPECT_DOUBLE_EQ(values[0].value.value().value, 1.5);
    EXPECT_EQ(values[0].value->unit, "tma_info_thread_ipc");
}

TEST(MetricValue, IsComputedInEachPlace) {
    const auto report =
        report_of({input("INST_RETIRED.ANY", 600, "CPU0"), input("INST_RETIRED.ANY", 100, "CPU1"),
                   input("CPU_CLK_UNHALTED.THREAD", 400, "CPU0"), input("CPU_CLK_UNHALTED.THREAD", 400, "CPU1")},
                  {"tma_info_thread_ipc"});
    const auto values = metric_values(report);
    ASSERT_EQ(values.size(), 2U);
    EXPECT_DOUBLE_EQ(values[0].value.value().value, 1.5);
    EXPECT_EQ(values[1].first->where, "CPU1");
    EXPECT_DOUBLE_EQ(values[1].value.value().value, 0.25);
}

TEST(MetricValue, IsAbsentIfAnEventWasNotCounted) {
    auto lines = kCounted;
    lines[1].count = {};
    const auto report = report_of(lines, {"tma_info_thread_ipc"});
    ASSERT_EQ(metric_values(report).size(), 1U);
    EXPECT_FALSE(metric_values(report)[0].value.has_value());
    EXPECT_TRUE(metrics_beside(report.lines[0], report).empty());
}

TEST(MetricValue, OfModelledCyclesIsModelled) {
    auto lines = kCounted;
    EXPECT_FALSE(metric_values(report_of(lines, {"tma_info_thread_ipc"}))[0].value->modelled);
    lines[1].modelled = true;
    EXPECT_TRUE(metric_values(report_of(lines, {"tma_info_thread_ipc"}))[0].value->modelled);
}

TEST(MetricValue, IgnoresEventsOfTheSameNameThatWereTyped) {
    auto lines = kCounted;
    lines.insert(lines.begin(), input("INST_RETIRED.ANY", 1));
    lines.front().metric_set = 0;
    EXPECT_DOUBLE_EQ(metric_values(report_of(lines, {"tma_info_thread_ipc"}))[0].value->value, 1.5);
}

TEST(MetricValue, OfTheSameFirstEventHasALineOfItsOwn) {
    const auto report = report_of(kCounted, {"tma_info_thread_ipc", "tma_info_inst_mix_instructions"});
    EXPECT_EQ(metrics_beside(report.lines[0], report).size(), 2U);
    EXPECT_TRUE(metrics_beside(report.lines[1], report).empty());
    Options options;
    options.separator = ",";
    options.format = Format::csv;
    EXPECT_EQ(to_csv(report, options),
              "600,,INST_RETIRED.ANY,1000000,100.00,1.50,tma_info_thread_ipc\n"
              ",,,,,600.00,tma_info_inst_mix_instructions\n"
              "400,,CPU_CLK_UNHALTED.THREAD,1000000,100.00,,\n");
}

TEST(MetricValue, WithAUnitHasOneDecimalAsInPerf) {
    const auto report = report_of({input("LD_BLOCKS_PARTIAL.ADDRESS_ALIAS", 75), input("CPU_CLK_UNHALTED.THREAD", 400)},
                                  {"tma_4k_aliasing"});
    Options options;
    options.separator = ",";
    options.format = Format::csv;
    EXPECT_TRUE(to_csv(report, options).contains(",18.8,%  tma_4k_aliasing\n")) << to_csv(report, options);
}

}  // namespace
}  // namespace anyperf::cli::stat

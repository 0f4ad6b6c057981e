// csv.cpp: the report as CSV. The fields and their order are those of perf's -x (perf-stat(1), "CSV FORMAT"), so that
// scripts for perf can read it. Where the manual and perf 6.1 differ, the fields are those of perf 6.1.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/stat/metrics.h"
#include "cli/stat/output/writers.h"
#include "cli/stat/statistics.h"
#include "cli/stat/vendor_metrics/metric_values.h"

namespace anyperf::cli::stat {

namespace {

/// The count, or perf's words for why there is none.
std::string value_field(const Line& line) {
    switch (line.status()) {
        case Status::not_supported: return "<not supported>";
        case Status::not_counted: return "<not counted>";
        case Status::counted: break;
    }
    return line.whole() ? fmt::format("{}", line.count.value) : fmt::format("{:.2f}", line.value());
}

/// The part of its enabled time that the event had a counter, in %; 100 if it was never enabled.
double percent_running(const counting::Count& count) {
    if (count.enabled_ns == 0) return 100;
    return 100.0 * static_cast<double>(count.running_ns) / static_cast<double>(count.enabled_ns);
}

/// perf's measure of noise: the standard error of the mean, in % of the mean. Scripts that read CSV expect that number.
/// The table shows the standard deviation of the runs instead.
std::string noise_field(const Line& line) {
    const Summary summary = summarize(line.runs);
    return fmt::format("{:.2f}%",
                       100 * summary.relative_deviation() / std::sqrt(static_cast<double>(line.runs.size())));
}

/// The unit of the metric and its mark. Without a metric, the mark of the count alone: perf leaves this field empty
/// then, and has no other field for a mark.
std::string metric_unit_field(const Line& line, const std::optional<Metric>& metric) {
    if (!metric) return mark_of(line);
    return mark_of(*metric).empty() ? unit_field(*metric) : fmt::format("{} {}", unit_field(*metric), mark_of(*metric));
}

/// The fields before the count: the time of the interval or the word "summary", the place, and its number of CPUs.
std::vector<std::string> leading_fields(const Line& line, const Report& report, const Options& options) {
    std::vector<std::string> fields;
    if (report.interval_at_ns)
        fields.push_back(
            fmt::format("{:>6}.{:09}", *report.interval_at_ns / 1'000'000'000, *report.interval_at_ns % 1'000'000'000));
    else if (report.summary && !options.no_csv_summary)
        fields.push_back(fmt::format("{:>16}", "summary"));
    if (!line.where.empty()) fields.push_back(line.where);
    if (line.cpus > 0) fields.push_back(fmt::format("{}", line.cpus));
    return fields;
}

/// The fields from the count to the share of the time that it ran.
std::vector<std::string> count_fields(const Line& line) {
    std::vector<std::string> fields{value_field(line), line.event.unit, line.name};
    if (!line.cgroup.empty()) fields.push_back(line.cgroup);
    if (line.runs.size() > 1) fields.push_back(noise_field(line));
    fields.push_back(fmt::format("{}", line.count.running_ns));
    fields.push_back(fmt::format("{:.2f}", percent_running(line.count)));
    return fields;
}

std::string metric_value_field(const std::optional<Metric>& metric) {
    return metric ? fmt::format("{:.{}f}", metric->value, metric->percent ? 2 : metric->decimals) : "";
}

}  // namespace

std::string to_csv(const Report& report, const Options& options) {
    std::string text;
    for (const auto& line : report.lines) {
        const auto leading = leading_fields(line, report, options);
        auto counts = count_fields(line);
        const auto add = [&](const std::optional<Metric>& metric) {
            std::vector<std::string> fields = leading;
            fields.insert(fields.end(), counts.begin(), counts.end());
            fields.push_back(metric_value_field(metric));
            fields.push_back(metric_unit_field(line, metric));
            text += fmt::format("{}\n", fmt::join(fields, options.separator));
            std::ranges::fill(counts, "");  // a further metric of the event has a line without the count
        };
        const auto metrics = metrics_beside(line, report);
        for (const Metric& metric : metrics) add(metric);
        if (metrics.empty()) add(std::nullopt);
    }
    return text;
}

}  // namespace anyperf::cli::stat

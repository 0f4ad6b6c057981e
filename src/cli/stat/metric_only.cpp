// metric_only.cpp: `--metric-only`: a row of the numbers that people read out of the counts, as perf's: shares and
// ratios, not rates and not how many CPUs were used.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "cli/stat/metrics.h"
#include "cli/stat/writers.h"

namespace anyperf::cli::stat {

namespace {

constexpr std::size_t kLeastWidth = 10;

/// A metric in one place.
struct Cell {
    std::string where;
    std::string heading;
    std::string value;
};

/// "of all branches" says nothing without its event.
std::string heading_of(const Line& line, const Metric& metric) {
    const std::string cgroup = line.cgroup.empty() ? "" : " " + line.cgroup;
    return (metric.unit.starts_with("of all") ? line.name + " " + metric.unit : metric.unit) + cgroup;
}

std::vector<Cell> cells_of(const Report& report, bool for_people) {
    std::vector<Cell> cells;
    for (const auto& line : report.lines) {
        const auto metric = metric_of(line, report.lines, report.wall_ns);
        if (!metric || !is_ratio(*metric)) continue;
        cells.push_back({line.where, heading_of(line, *metric),
                         fmt::format("{:.2f}{}", metric->value, for_people && metric->percent ? "%" : "")});
    }
    return cells;
}

/// Each once, in the order of their first.
std::vector<std::string> distinct(const std::vector<Cell>& cells, std::string Cell::* field) {
    std::vector<std::string> values;
    for (const auto& cell : cells)
        if (std::ranges::find(values, cell.*field) == values.end()) values.push_back(cell.*field);
    return values;
}

std::string value_at(const std::vector<Cell>& cells, const std::string& where, const std::string& heading) {
    const auto found =
        std::ranges::find_if(cells, [&](const Cell& cell) { return cell.where == where && cell.heading == heading; });
    return found == cells.end() ? "" : found->value;
}

/// The columns before the metrics: the time of -I, the CPU or thread.
std::vector<std::string> leading(const Report& report, const std::string& where) {
    std::vector<std::string> fields;
    if (report.interval_at_ns) fields.push_back(seconds_text(*report.interval_at_ns));
    if (!where.empty()) fields.push_back(where);
    return fields;
}

std::string row_for_people(const std::vector<std::string>& before, const std::vector<std::string>& headings,
                           const std::vector<std::string>& values) {
    std::string row;
    for (const auto& field : before) row += fmt::format("{:<16} ", field);
    for (std::size_t i = 0; i < headings.size(); ++i)
        row += fmt::format(" {:>{}}", values[i], std::max(headings[i].size(), kLeastWidth));
    return row + "\n";
}

std::string row_of_fields(std::vector<std::string> fields, const std::vector<std::string>& values,
                          const std::string& separator) {
    fields.insert(fields.end(), values.begin(), values.end());
    return fmt::format("{}\n", fmt::join(fields, separator));
}

}  // namespace

std::string to_metrics(const Report& report, const Options& options, bool with_headings) {
    const bool for_people = options.format == Format::table;
    const auto cells = cells_of(report, for_people);
    const auto headings = distinct(cells, &Cell::heading);
    const auto row = [&](const std::vector<std::string>& before, const std::vector<std::string>& values) {
        return for_people ? row_for_people(before, headings, values) : row_of_fields(before, values, options.separator);
    };
    std::string text;
    const auto places = distinct(cells, &Cell::where);
    if (with_headings && !cells.empty()) {
        auto before = leading(report, places.front());
        if (report.interval_at_ns) before.front() = "time";
        if (!places.front().empty()) before.back() = options.per_cpu ? "cpu" : "thread";
        text += row(before, headings);
    }
    for (const auto& where : places) {
        std::vector<std::string> values;
        values.reserve(headings.size());
        for (const auto& heading : headings) values.push_back(value_at(cells, where, heading));
        text += row(leading(report, where), values);
    }
    return text;
}

}  // namespace anyperf::cli::stat

// metric_only.cpp: --metric-only: only the ratios and shares, in a row, as perf stat prints them. Rates in "/sec" and
// "CPUs utilized" are left out. Each place has a row of its own. Each interval adds rows; only the first interval has
// headings.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "cli/stat/metrics.h"
#include "cli/stat/output/writers.h"
#include "cli/stat/vendor_metrics/metric_values.h"

namespace anyperf::cli::stat {

namespace {

constexpr std::size_t kLeastWidth = 10;  // of a column

/// One metric in one place.
struct Cell {
    std::string where;
    int cpus = 0;
    std::string heading;
    std::string value;
};

/// The heading of a column. A share ("of all branches") can only be understood with the name of its event.
std::string heading_of(const Line& line, const Metric& metric) {
    const std::string cgroup = line.cgroup.empty() ? "" : " " + line.cgroup;
    const std::string mark = mark_of(metric).empty() ? "" : fmt::format(" {}", mark_of(metric));
    return (metric.unit.starts_with("of all") ? line.name + " " + metric.unit : metric.unit) + mark + cgroup;
}

std::string cell_value(const Metric& metric, bool for_people) {
    const int decimals = std::min(metric.decimals, 2);
    return fmt::format("{:.{}f}{}", metric.value, decimals, for_people && metric.percent ? "%" : "");
}

/// The ratios of all lines. For people a percentage has the sign "%"; programs get the number alone.
std::vector<Cell> cells_of(const Report& report, bool for_people) {
    std::vector<Cell> cells;
    for (const auto& line : report.lines) {
        for (const Metric& metric : metrics_beside(line, report))
            if (is_ratio(metric))
                cells.push_back({line.where, line.cpus, heading_of(line, metric), cell_value(metric, for_people)});
    }
    return cells;
}

/// The distinct values of a field, in the order of their first appearance.
std::vector<std::string> distinct(const std::vector<Cell>& cells, std::string Cell::* field) {
    std::vector<std::string> values;
    for (const auto& cell : cells)
        if (std::ranges::find(values, cell.*field) == values.end()) values.push_back(cell.*field);
    return values;
}

/// The cell of a place and column; empty if that place has no such metric.
std::string value_at(const std::vector<Cell>& cells, const std::string& where, const std::string& heading) {
    const auto found =
        std::ranges::find_if(cells, [&](const Cell& cell) { return cell.where == where && cell.heading == heading; });
    return found == cells.end() ? "" : found->value;
}

/// The fields before the metrics: the time (with -I), and the CPU, the thread, or the unit of the machine with its
/// number of CPUs.
std::vector<std::string> leading_fields(const Report& report, const std::string& where,
                                        const std::vector<Cell>& cells) {
    std::vector<std::string> fields;
    if (report.interval_at_ns) fields.push_back(seconds_text(*report.interval_at_ns));
    if (!where.empty()) fields.push_back(where);
    if (const auto cell = std::ranges::find(cells, where, &Cell::where); cell != cells.end() && cell->cpus > 0)
        fields.push_back(fmt::format("{}", cell->cpus));
    return fields;
}

/// The heading of the column with the CPU, thread, or unit of the machine.
std::string heading_of_places(const Options& options) {
    if (options.per_thread) return "thread";
    if (!options.cpu_level) return "cpu";
    constexpr std::array kNames{"core", "die", "socket", "node"};  // in the order of CpuLevel
    return kNames.at(static_cast<std::size_t>(*options.cpu_level));
}

/// A row whose columns have the widths of their headings.
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
        auto before = leading_fields(report, places.front(), cells);
        if (report.interval_at_ns) before.front() = "time";
        if (!places.front().empty()) {
            before[report.interval_at_ns ? 1 : 0] = heading_of_places(options);
            if (options.cpu_level) before.back() = "cpus";
        }
        text += row(before, headings);
    }
    for (const auto& where : places) {
        std::vector<std::string> values;
        values.reserve(headings.size());
        for (const auto& heading : headings) values.push_back(value_at(cells, where, heading));
        text += row(leading_fields(report, where, cells), values);
    }
    return text;
}

}  // namespace anyperf::cli::stat

// reports.cpp: a format of --report is a function from outcomes to text, and a row of kFormats.
//
//   json        one object; its "benches" have the reports of `stat --json`
//   markdown    a table, as GitHub's $GITHUB_STEP_SUMMARY and GitLab's comments show it
//   github      workflow commands (::error::, ::notice::): annotations of a job
//   junit       JUnit's XML, a test case for each bench
//   benchmark   the JSON "customSmallerIsBetter" of github-action-benchmark
#include "cli/bench/reports.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include "cli/stat/gate/report_texts.h"

namespace anyperf::cli::bench {

namespace {

using Json = nlohmann::ordered_json;
using stat::Difference;
using stat::TextRow;

/// The rows of a bench: the comparison with the baseline, or the counts alone. Elapsed time has a row only if it has a
/// limit: next to exact counts it is noise.
std::vector<Difference> rows_of(const Outcome& outcome) {
    std::vector<Difference> rows = outcome.gate.comparison.differences;
    if (rows.empty())
        for (const auto& value : outcome.measured.counts.events) rows.push_back({value.name, {}, value.value, {}});
    std::erase_if(rows, [](const Difference& row) { return row.name == stat::kWallTime && !row.limit; });
    return rows;
}

std::string limit_text(const Difference& row) {
    return row.limit ? fmt::format("{}%", *row.limit) : "";
}

bool is_bad(const Outcome& outcome) {
    return exit_status_of(outcome.end) != 0;
}

std::string to_markdown(std::span<const Outcome> outcomes) {
    std::string text = fmt::format("### anyperf: {}\n\n", summary(outcomes));
    text +=
        "| bench | event | baseline | now | difference | in percent | limit | |\n"
        "|---|---|---:|---:|---:|---:|---:|---|\n";
    for (const Outcome& outcome : outcomes) {
        const auto rows = rows_of(outcome);
        for (const Difference& row : rows) {
            const TextRow shown = text_of(row);
            text += fmt::format("| {} | {} | {} | {} | {} | {}{}{} | {} | {} |\n",
                                stat::markdown_cell(outcome.measured.name), stat::markdown_cell(shown.name),
                                shown.before, shown.now, shown.change, row.above() ? "**" : "", shown.growth,
                                row.above() ? "**" : "", limit_text(row), name_of(outcome.end));
        }
        if (rows.empty())
            text += fmt::format("| {} | | | | | | | {} |\n", stat::markdown_cell(outcome.measured.name),
                                name_of(outcome.end));
    }
    for (const Outcome& outcome : outcomes)
        if (is_bad(outcome))
            text += fmt::format("\n- **{}**: {}", stat::markdown_cell(outcome.measured.name),
                                stat::markdown_cell(outcome.line));
    return text + "\n";
}

std::string to_workflow_commands(std::span<const Outcome> outcomes) {
    std::string text;
    for (const Outcome& outcome : outcomes)
        if (is_bad(outcome))
            text += fmt::format("::error title=anyperf bench::{}: {}\n", stat::workflow_data(outcome.measured.name),
                                stat::workflow_data(outcome.line));
    return text + fmt::format("::notice title=anyperf bench::{}\n", stat::workflow_data(summary(outcomes)));
}

std::string to_junit(std::span<const Outcome> outcomes) {
    std::string cases;
    int failures = 0;
    int errors = 0;
    for (const Outcome& outcome : outcomes) {
        const bool failed = outcome.end == End::above;
        failures += failed ? 1 : 0;
        errors += is_bad(outcome) && !failed ? 1 : 0;
        cases +=
            fmt::format("  <testcase classname=\"anyperf bench\" name=\"{}\">", stat::xml_text(outcome.measured.name));
        if (is_bad(outcome))
            cases += fmt::format("<{} message=\"{}\"/>", failed ? "failure" : "error", stat::xml_text(outcome.line));
        cases += "</testcase>\n";
    }
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuite name=\"anyperf bench\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n{}</testsuite>\n",
        outcomes.size(), failures, errors, cases);
}

std::string to_benchmark(std::span<const Outcome> outcomes) {
    Json rows = Json::array();
    for (const Outcome& outcome : outcomes)
        for (const auto& value : outcome.measured.counts.events)
            rows.push_back({{"name", outcome.measured.name + ": " + value.name},
                            {"unit", value.name == stat::kWallTime ? "ns" : "events"},
                            {"value", value.value}});
    return rows.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Json object_of(const Outcome& outcome) {
    const Measured& measured = outcome.measured;
    Json differences = Json::array();
    for (const Difference& row : outcome.gate.comparison.differences) differences.push_back(stat::json_of(row));
    Json object{{"name", measured.name},
                {"end", name_of(outcome.end)},
                {"line", outcome.line},
                {"exit", measured.exit_status},
                {"repeats", measured.succeeded() ? Json(measured.repeats) : Json()}};
    if (!measured.first_difference.empty()) object["first_difference"] = measured.first_difference;
    if (!measured.succeeded()) object["standard_error"] = measured.errors;
    object["report"] = measured.report;
    object["differences"] = std::move(differences);
    return object;
}

/// `append`: the text is added to an existing file instead of replacing it.
struct FormatRow {
    std::string_view name;
    std::string (*write)(std::span<const Outcome>);
    bool append;
};
constexpr std::array kFormats{
    FormatRow{"json", to_json, false},
    FormatRow{"markdown", to_markdown, true},
    FormatRow{"github", to_workflow_commands, false},
    FormatRow{"junit", to_junit, false},
    FormatRow{"benchmark", to_benchmark, false},
};

/// The names of the formats, in the order of kFormats.
constexpr auto kNames = [] {
    std::array<std::string_view, kFormats.size()> names;
    std::ranges::transform(kFormats, names.begin(), &FormatRow::name);
    return names;
}();

}  // namespace

std::string to_json(std::span<const Outcome> outcomes) {
    Json benches = Json::array();
    for (const Outcome& outcome : outcomes) benches.push_back(object_of(outcome));
    const Json file{{"summary", summary(outcomes)}, {"benches", benches}};
    return file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string summary(std::span<const Outcome> outcomes) {
    std::string text = fmt::format("{} {}", outcomes.size(), outcomes.size() == 1 ? "bench" : "benches");
    const char* separator = ": ";
    for (const End end : {End::not_measured, End::failed, End::not_repeatable, End::not_comparable, End::above,
                          End::passed, End::added, End::measured}) {
        const auto count = std::ranges::count(outcomes, end, &Outcome::end);
        if (count == 0) continue;
        text += fmt::format("{}{} {}", separator, count, name_of(end));
        separator = ", ";
    }
    return text;
}

std::string to_text(std::span<const Outcome> outcomes) {
    std::size_t width = 5;
    for (const Outcome& outcome : outcomes) width = std::max(width, outcome.measured.name.size());
    const bool compares = std::ranges::any_of(
        outcomes, [](const Outcome& outcome) { return !outcome.gate.comparison.differences.empty(); });
    std::string text = fmt::format(" {:<{}}  {:<24} {:>18}", "bench", width, "event", "now");
    text += compares ? fmt::format(" {:>18} {:>14} {:>11}\n", "baseline", "difference", "in percent") : "\n";
    for (const Outcome& outcome : outcomes)
        for (const Difference& row : rows_of(outcome)) {
            const TextRow shown = text_of(row);
            text += fmt::format(" {:<{}}  {:<24} {:>18}", outcome.measured.name, width, shown.name, shown.now);
            text += compares ? fmt::format(" {:>18} {:>14} {:>11}{}\n", shown.before, shown.change, shown.growth,
                                           row.above() ? "  above " + limit_text(row) : "")
                             : "\n";
        }
    for (const Outcome& outcome : outcomes) {
        if (!is_bad(outcome) && outcome.end != End::added) continue;
        text += fmt::format(" {}: {}\n", outcome.measured.name, outcome.line);
        if (!outcome.measured.succeeded() && !outcome.measured.errors.empty()) text += outcome.measured.errors;
    }
    return text;
}

Result<stat::GateReport> parse_report(const std::string& text) {
    return stat::parse_report("--report", text, kNames);
}

Result<void> write_report(const stat::GateReport& wanted, std::span<const Outcome> outcomes) {
    const auto row = std::ranges::find(kFormats, wanted.format, &FormatRow::name);
    return stat::write_report_file(wanted.file, row->write(outcomes), row->append);
}

}  // namespace anyperf::cli::bench

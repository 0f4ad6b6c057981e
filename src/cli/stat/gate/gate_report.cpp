// gate_report.cpp: a format is a function and a row of kFormats.
//
//   markdown    a table, as GitHub's $GITHUB_STEP_SUMMARY and GitLab's comments show it
//   github      workflow commands (::error::, ::notice::): annotations of a job
//   junit       JUnit's XML, a test case for each event: GitLab's and Jenkins' reports of tests
//   benchmark   the JSON "customSmallerIsBetter" of github-action-benchmark, which draws counts over commits
#include "cli/stat/gate/gate_report.h"

#include "cli/stat/gate/report_texts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace anyperf::cli::stat {

namespace {

using WriteText = std::string (*)(const GateResult&, const Report&);

std::string title(const Report& report) {
    return fmt::format("{}", fmt::join(report.command, " "));
}

/// A difference above its limit is bold in the column of percents.
std::string to_markdown(const GateResult& result, const Report& report) {
    std::string text = fmt::format("### anyperf: `{}`\n\n{}\n\n", markdown_cell(title(report)), verdict_line(result));
    text += "| event | baseline | now | difference | in percent | limit |\n|---|---:|---:|---:|---:|---:|\n";
    for (const Difference& difference : result.comparison.differences) {
        const TextRow row = text_of(difference);
        text += fmt::format("| {} | {} | {} | {} | {}{}{} | {} |\n", markdown_cell(row.name), row.before, row.now,
                            row.change, difference.above() ? "**" : "", row.growth, difference.above() ? "**" : "",
                            difference.limit ? fmt::format("{}%", *difference.limit) : "");
    }
    return text + "\n";
}

/// One line for the verdict, which is an error if the gate failed, then an error for each event above its limit.
std::string to_workflow_commands(const GateResult& result, const Report& report) {
    const bool failed = result.verdict == Verdict::above || result.verdict == Verdict::not_comparable;
    std::string text = fmt::format("::{} title=anyperf::{}: {}\n", failed ? "error" : "notice",
                                   workflow_data(title(report)), workflow_data(verdict_line(result)));
    for (const Difference& difference : result.comparison.differences)
        if (difference.above()) {
            const TextRow row = text_of(difference);
            text +=
                fmt::format("::error title=anyperf::{}\n",
                            workflow_data(fmt::format("{} grew from {} to {}: {} ({}), limit {}%", row.name, row.before,
                                                      row.now, row.growth, row.change, *difference.limit)));
        }
    return text;
}

// A test case for each event that has a limit, and one more, an error, if the runs are not comparable: an empty report
// would look like success.
std::string to_junit(const GateResult& result, const Report& report) {
    std::string cases;
    int tests = 0;
    int failures = 0;
    for (const Difference& difference : result.comparison.differences) {
        if (!difference.limit || !difference.growth()) continue;
        const TextRow row = text_of(difference);
        const std::string text = fmt::format("{} then, {} now: {} ({}), limit {}%", row.before, row.now, row.growth,
                                             row.change, *difference.limit);
        ++tests;
        failures += difference.above() ? 1 : 0;
        cases += fmt::format("  <testcase classname=\"{}\" name=\"{}\">", xml_text(title(report)), xml_text(row.name));
        cases += difference.above() ? fmt::format("<failure message=\"{}\"/>", xml_text(text))
                                    : fmt::format("<system-out>{}</system-out>", xml_text(text));
        cases += "</testcase>\n";
    }
    const bool error = result.verdict == Verdict::not_comparable;
    if (error)
        cases += fmt::format("  <testcase classname=\"{}\" name=\"comparable\"><error message=\"{}\"/></testcase>\n",
                             xml_text(title(report)), xml_text(verdict_line(result)));
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuite name=\"anyperf\" tests=\"{}\" failures=\"{}\" errors=\"{}\">\n{}</testsuite>\n",
        tests + (error ? 1 : 0), failures, error ? 1 : 0, cases);
}

/// Every event that was counted, with or without a limit. The name has the command, so that the graphs of several
/// commands stay apart.
std::string to_benchmark(const GateResult& result, const Report& report) {
    nlohmann::json rows = nlohmann::json::array();
    for (const Difference& difference : result.comparison.differences)
        if (difference.now)
            rows.push_back({{"name", title(report) + ": " + difference.name},
                            {"unit", difference.name == "wall_ns" ? "ns" : "events"},
                            {"value", *difference.now}});
    return rows.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

/// `append`: an existing file is continued, not replaced.
struct FormatRow {
    std::string_view name;
    WriteText write;
    bool append;
};
constexpr std::array kFormats{
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

Result<GateReport> parse_gate_report(const std::string& text) {
    return parse_report("--gate-report", text, kNames);
}

// The row exists, because parse_gate_report() has refused unknown formats.
Result<void> write_gate_report(const GateReport& wanted, const GateResult& result, const Report& report) {
    const auto row = std::ranges::find(kFormats, wanted.format, &FormatRow::name);
    return write_report_file(wanted.file, row->write(result, report), row->append);
}

}  // namespace anyperf::cli::stat

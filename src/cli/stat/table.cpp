// table.cpp: the report for people. Columns as perf's, so that eyes trained on those find the same things.
#include <fmt/format.h>

#include <algorithm>

#include "cli/stat/metrics.h"
#include "cli/stat/statistics.h"
#include "cli/stat/writers.h"

namespace anyperf::cli::stat {

namespace {

constexpr int kValueWidth = 18;
constexpr int kUnitWidth = 4;
constexpr int kNameWidth = 32;

std::string with_separators(std::string digits) {
    const auto point = digits.find('.');
    const std::size_t first = digits.starts_with('-') ? 1 : 0;
    for (std::size_t i = point == std::string::npos ? digits.size() : point; i > first + 3;) digits.insert(i -= 3, ",");
    return digits;
}

std::string value_text(const Line& line, const Options& options) {
    switch (line.status()) {
        case Status::not_supported: return "<not supported>";
        case Status::not_counted: return "<not counted>";
        case Status::counted: break;
    }
    const std::string digits = line.whole() ? fmt::format("{}", line.count.value) : fmt::format("{:.2f}", line.value());
    return options.big_num ? with_separators(digits) : digits;
}

std::string metric_text(const Line& line, const Report& report) {
    const auto metric = metric_of(line, report.lines, report.wall_ns);
    if (!metric) return {};
    return metric->percent ? fmt::format("# {:7.2f}% {}", metric->value, metric->unit)
                           : fmt::format("# {:8.3f} {}", metric->value, metric->unit);
}

/// What share of the time the event had a counter, where it had to share one.
std::string running_text(const Line& line) {
    if (!line.count.scaled || line.status() != Status::counted) return {};
    return fmt::format("({:.2f}%)",
                       100.0 * static_cast<double>(line.count.running_ns) / static_cast<double>(line.count.enabled_ns));
}

/// Not a measurement of anything: the reader must see it on the line itself.
std::string modelled_text(const Line& line) {
    return line.modelled && line.status() == Status::counted ? "(modelled)" : "";
}

/// Whether the name shows that the user's event was cut down to user mode.
bool renamed(const Line& line) {
    return line.user_only && line.name != line.event.name;
}

std::string number(double value) {
    return with_separators(fmt::format("{:.{}f}", value, value < 100 ? 2 : 0));
}

std::string runs_text(const Line& line) {
    if (line.runs.size() < 2 || line.status() != Status::counted) return {};
    const Summary summary = summarize(line.runs);
    return fmt::format("( ± {} = {:.2f}% )  median {} [{}, {}]", number(summary.deviation),
                       100 * summary.relative_deviation(), number(summary.median), number(summary.median_low),
                       number(summary.median_high));
}

std::string row(const Line& line, const Report& report, const Options& options, int where_width) {
    std::string text;
    if (where_width > 0) text += fmt::format("{:<{}} ", line.where, where_width);
    text += fmt::format("{:>{}} {:<{}} {:<{}}", value_text(line, options), kValueWidth, line.event.unit, kUnitWidth,
                        line.name, kNameWidth);
    if (!line.cgroup.empty()) text += " " + line.cgroup;
    if (const auto metric = metric_text(line, report); !metric.empty()) text += fmt::format(" {:<35}", metric);
    for (const auto& tail : {modelled_text(line), runs_text(line), running_text(line)})
        if (!tail.empty()) text += "  " + tail;
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
}

int widest_place(const Report& report) {
    std::size_t width = 0;
    for (const auto& line : report.lines) width = std::max(width, line.where.size());
    return static_cast<int>(width);
}

/// Evidence stands in parentheses; `-v` and `anyperf explain` have it, a line below a table has not.
std::string without_parentheses(std::string_view text) {
    std::string kept;
    int depth = 0;
    for (const char c : text) {
        depth += c == '(' ? 1 : 0;
        if (depth == 0) kept += c;
        if (c == '(' && kept.ends_with(' ')) kept.pop_back();
        depth -= c == ')' && depth > 0 ? 1 : 0;
    }
    return kept;
}

std::string one_sentence(const Error& error) {
    return without_parentheses(error.fix.empty() ? error.cause : error.cause + "; " + error.fix);
}

/// Causes that name their event are one cause all the same.
std::string without_name(std::string sentence, const std::string& name) {
    for (auto at = sentence.find(name); at != std::string::npos; at = sentence.find(name, at + 5))
        sentence.replace(at, name.size(), "EVENT");
    return sentence;
}

/// One line for each cause, however many events it keeps from counting.
std::string refusals(const Report& report) {
    struct Cause {
        std::string key;
        std::string sentence;
        std::vector<std::string> events;
    };
    std::vector<Cause> causes;
    for (const auto& line : report.lines) {
        if (!line.refusal) continue;
        const std::string sentence = one_sentence(*line.refusal);
        const std::string key = without_name(sentence, line.event.name);
        auto known = std::ranges::find(causes, key, &Cause::key);
        if (known == causes.end()) known = causes.insert(causes.end(), {key, sentence, {}});
        if (std::ranges::find(known->events, line.name) == known->events.end()) known->events.push_back(line.name);
    }
    std::string text;
    for (const auto& [key, sentence, events] : causes) {
        const std::string which = causes.size() == 1 ? "" : fmt::format(" {}", fmt::join(events, ", "));
        text += fmt::format(" <not supported>{}: {}\n", which, events.size() == 1 ? sentence : key);
    }
    return text;
}

std::string notes(const Report& report) {
    std::string text = refusals(report);
    if (std::ranges::any_of(report.lines, [](const Line& line) { return !modelled_text(line).empty(); }))
        text +=
            " (modelled): computed from what the program retired, by a simple model of a CPU; compare with nothing "
            "else\n";
    if (std::ranges::any_of(report.lines, renamed))
        text += " :u: user mode only; counting kernel mode needs CAP_PERFMON, or kernel.perf_event_paranoid below 2\n";
    if (std::ranges::any_of(report.lines, [](const Line& line) { return !running_text(line).empty(); }))
        text += " (n%): the event had a counter for that part of the time; its count is scaled up: an estimate\n";
    for (const auto& note : report.notes) text += " " + note + "\n";
    return text.empty() ? text : "\n" + text;
}

std::string times(const Report& report) {
    if (report.runs > 1) {
        const Summary wall = summarize(report.wall_runs);
        return fmt::format("\n{:>18.9f} ± {:.9f} seconds time elapsed  ( ± {:.2f}% )  median {:.9f} [{:.9f}, {:.9f}]\n",
                           wall.mean / 1e9, wall.deviation / 1e9, 100 * wall.relative_deviation(), wall.median / 1e9,
                           wall.median_low / 1e9, wall.median_high / 1e9);
    }
    std::string text = fmt::format("\n{:>18} seconds time elapsed\n", seconds_text(report.wall_ns));
    if (report.exit_status)
        text += fmt::format("\n{:>18} seconds user\n{:>18} seconds sys\n", seconds_text(report.user_ns),
                            seconds_text(report.system_ns));
    return text;
}

/// Where --metric-only has nothing to show: which events have a metric.
constexpr std::string_view kNoMetrics =
    " no event that was counted has a ratio beside it: count cycles,instructions or branches,branch-misses together\n";

std::string events_text(const Report& report, const Options& options) {
    if (options.metric_only) {
        const std::string metrics = to_metrics(report, options, true);
        return metrics.empty() ? std::string{kNoMetrics} : metrics;
    }
    const int where_width = widest_place(report);
    std::string text;
    for (const auto& line : report.lines) text += row(line, report, options, where_width);
    return text;
}

}  // namespace

std::string seconds_text(std::uint64_t ns) {
    return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
}

std::string to_table(const Report& report, const Options& options) {
    std::string text = fmt::format("\n Performance counter stats for {}", report.target);
    if (report.mode == "virtual") text += " (virtual PMU: user space only)";
    if (report.runs > 1) text += fmt::format(" ({} runs)", report.runs);
    text += ":\n\n";
    text += events_text(report, options);
    if (report.runs > 1 && !report.lines.empty()) {
        const double confidence = summarize(report.wall_runs).confidence;
        text += fmt::format(
            "\n ±: standard deviation of the runs; [low, high]: {:.1f}% confidence interval of the median\n",
            100 * confidence);
    }
    text += notes(report);
    return text + times(report) + "\n";
}

std::string to_interval(const Report& report, const Options& options, bool first) {
    if (options.format == Format::json) return to_json(report, options);
    if (options.metric_only) return to_metrics(report, options, first);
    if (options.format == Format::csv) return to_csv(report, options);
    std::string text;
    if (first) text = "#           time             counts unit events\n";
    const int where_width = widest_place(report);
    for (const auto& line : report.lines)
        text += fmt::format("{:>16} ", seconds_text(report.interval_at_ns.value_or(0))) +
                row(line, report, options, where_width);
    if (first)
        if (auto why = refusals(report); !why.empty()) text += "#" + why;
    return text;
}

}  // namespace anyperf::cli::stat

// table.cpp: the report for people. The columns are those of perf stat, so that its users find the same things in the
// same places. Below the table come the reasons for what could not be counted, and notes on what is not an exact count.
#include <fmt/format.h>

#include <algorithm>

#include "cli/stat/metrics.h"
#include "cli/stat/output/run_table.h"
#include "cli/stat/output/writers.h"
#include "cli/stat/statistics.h"
#include "cli/stat/vendor_metrics/metric_values.h"

namespace anyperf::cli::stat {

namespace {

// Widths of the columns.
constexpr int kValueWidth = 18;
constexpr int kUnitWidth = 4;
constexpr int kNameWidth = 32;
constexpr std::size_t kMostIndent = 100;  // of a line that only has a metric

/// Separates each three digits of the integer part by a comma.
std::string with_separators(std::string digits) {
    const auto point = digits.find('.');
    const std::size_t first = digits.starts_with('-') ? 1 : 0;
    for (std::size_t i = point == std::string::npos ? digits.size() : point; i > first + 3;) digits.insert(i -= 3, ",");
    return digits;
}

/// A metric after "#", as perf prints it.
std::string metric_text(const Line& line, const Metric& metric) {
    // If count and metric have the same mark, row() shows it once, at the end of the line.
    const std::string its = mark_of(metric);
    const std::string mark = its.empty() || its == mark_of(line) ? "" : fmt::format(" {}", its);
    return metric.percent ? fmt::format("# {:7.2f}% {}{}", metric.value, metric.unit, mark)
                          : fmt::format("# {:8.{}f} {}{}", metric.value, metric.decimals, metric.unit, mark);
}

/// The share of its enabled time during which the event had a counter; empty if that is all of it, or the event was not
/// counted.
std::string running_text(const Line& line) {
    if (!line.count.scaled || line.status() != Status::counted) return {};
    return fmt::format("({:.2f}%)",
                       100.0 * static_cast<double>(line.count.running_ns) / static_cast<double>(line.count.enabled_ns));
}

/// Whether the line shows `mark`: after its count, or after the metric beside it.
bool shows(std::string_view mark, const Line& line, const Report& report) {
    return mark_of(line) == mark || std::ranges::any_of(metrics_beside(line, report),
                                                        [&](const Metric& metric) { return mark_of(metric) == mark; });
}

/// Whether a modifier u was added to the line's name, because only user mode could be counted.
bool renamed(const Line& line) {
    return line.user_only && line.name != line.event.name;
}

std::string number(double value) {
    return with_separators(fmt::format("{:.{}f}", value, value < 100 ? 2 : 0));
}

/// Deviation, median and its confidence interval of -r; empty for a single run.
std::string runs_text(const Line& line) {
    if (line.runs.size() < 2 || line.status() != Status::counted) return {};
    const Summary summary = summarize(line.runs);
    return fmt::format("( ± {} = {:.2f}% )  median {} [{}, {}]", number(summary.deviation),
                       100 * summary.relative_deviation(), number(summary.median), number(summary.median_low),
                       number(summary.median_high));
}

/// A line without the blanks at its end.
std::string trimmed(std::string text) {
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
}

/// The lines of an event: its count with its first metric, and a line for each further metric, indented to the column
/// of the first one. `before` is put in front of the first line. `where_width` is the width of the place column; 0:
/// there is no such column.
std::string row(const Line& line, const Report& report, const Options& options, int where_width,
                std::string_view before = "") {
    std::string text{before};
    if (where_width > 0) text += fmt::format("{:<{}} ", line.where, where_width);
    if (line.cpus > 0) text += fmt::format("{:>4} ", line.cpus);
    text += fmt::format("{:>{}} {:<{}} {:<{}}", value_text(line, options), kValueWidth, line.event.unit, kUnitWidth,
                        line.name, kNameWidth);
    if (!line.cgroup.empty()) text += " " + line.cgroup;
    const std::string indent(std::min(text.size(), kMostIndent), ' ');
    const auto metrics = metrics_beside(line, report);
    if (!metrics.empty()) text += fmt::format(" {:<35}", metric_text(line, metrics.front()));
    for (const auto& tail : {mark_of(line), runs_text(line), running_text(line)})
        if (!tail.empty()) text += "  " + tail;
    text = trimmed(std::move(text));
    for (std::size_t i = 1; i < metrics.size(); ++i) text += trimmed(indent + " " + metric_text(line, metrics[i]));
    return text;
}

/// The width of the widest place name; 0 if the lines are not split by place.
int widest_place(const Report& report) {
    std::size_t width = 0;
    for (const auto& line : report.lines) width = std::max(width, line.where.size());
    return static_cast<int>(width);
}

/// Removes what is in parentheses. There causes have their evidence, which -v and `anyperf explain` show and the lines
/// below the table do not.
std::string without_parentheses(std::string_view text) {
    // Evidence may contain parentheses itself, so the depth is counted. An unpaired ")" is kept.
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

/// Cause and fix of a refusal as one line.
std::string one_sentence(const Error& error) {
    return without_parentheses(error.fix.empty() ? error.cause : error.cause + "; " + error.fix);
}

/// The sentence with every `words` replaced by `other`.
std::string replaced(std::string sentence, std::string_view words, std::string_view other) {
    for (auto at = sentence.find(words); at != std::string::npos; at = sentence.find(words, at + other.size()))
        sentence.replace(at, words.size(), other);
    return sentence;
}

/// The sentence for several events with the same cause: "each event" replaces the name, and "the modifier u" a
/// suggested NAME:u. Sentences that differ only in the name become equal.
std::string for_each_event(const std::string& sentence, const std::string& name) {
    return replaced(replaced(sentence, name + ":u", "the modifier u"), name, "each event");
}

/// One line for each cause, however many events have it: on a machine without a PMU a dozen events have the same one.
/// Causes are compared with the names of the events replaced, because their sentences differ only in those. The events
/// are listed only if there are several causes.
std::string refusals(const Report& report) {
    struct Cause {
        std::string key;       ///< as it is printed if several events have it
        std::string sentence;  ///< as it is printed if only one event has it
        std::vector<std::string> events;
    };
    std::vector<Cause> causes;
    for (const auto& line : report.lines) {
        if (!line.refusal) continue;
        const std::string sentence = one_sentence(*line.refusal);
        const std::string key = for_each_event(sentence, line.event.name);
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

/// The lines below the table.
std::string notes(const Report& report) {
    std::string text = refusals(report);
    const auto any_shows = [&](std::string_view mark) {
        return std::ranges::any_of(report.lines, [&](const Line& line) { return shows(mark, line, report); });
    };
    if (any_shows(kModelledMark))
        text += fmt::format(
            " {}: computed from what the program retired, by a simple model of a CPU; compare only with other "
            "modelled counts\n",
            kModelledMark);
    const auto of_machine = std::ranges::find_if(report.lines, [](const Line& line) { return !line.machine.empty(); });
    if (of_machine != report.lines.end())
        text += fmt::format(
            " (modelled: {0}): counted by models of the caches, TLBs and branch predictors of the machine {0}; they "
            "begin "
            "empty\n",
            of_machine->machine);
    if (any_shows(kOwnShareMark))
        text += fmt::format(
            " {}: includes what anyperf does in the program's threads, as the times below do; "
            "without anyperf it is less\n",
            kOwnShareMark);
    if (std::ranges::any_of(report.lines, renamed))
        text += " :u: user mode only; counting kernel mode needs CAP_PERFMON, or kernel.perf_event_paranoid below 2\n";
    if (std::ranges::any_of(report.lines, [](const Line& line) { return !running_text(line).empty(); }))
        text += " (n%): the event had a counter for that part of the time; its count is an estimate, scaled up\n";
    for (const auto& note : report.notes) text += " " + note + "\n";
    return text.empty() ? text : "\n" + text;
}

/// Elapsed time, and the CPU time of the command if there was one; with -r the statistics of the elapsed time.
std::string times(const Report& report, const Options& options) {
    if (options.run_table) return run_table(report);
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

/// One of these is printed if --metric-only has nothing to show.
constexpr std::string_view kNoRatios =
    " no counted event has a ratio: count cycles,instructions or branches,branch-misses together\n";
constexpr std::string_view kNoMetrics = " no metric has a value: its events were not counted, or are 0\n";

/// The table itself, or the row of --metric-only.
std::string events_text(const Report& report, const Options& options) {
    if (options.metric_only) {
        const std::string metrics = to_metrics(report, options, true);
        if (!metrics.empty()) return metrics;
        return std::string{report.metrics == nullptr ? kNoRatios : kNoMetrics};
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

std::string value_text(const Line& line, const Options& options) {
    switch (line.status()) {
        case Status::not_supported: return "<not supported>";
        case Status::not_counted: return "<not counted>";
        case Status::counted: break;
    }
    const std::string digits = line.whole() ? fmt::format("{}", line.count.value) : fmt::format("{:.2f}", line.value());
    return options.big_num ? with_separators(digits) : digits;
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
    return text + times(report, options) + "\n";
}

// Headings, reasons and notes are printed with the first interval only.
std::string to_interval(const Report& report, const Options& options, bool first) {
    if (options.format == Format::json) return to_json(report, options);
    std::string text;
    if (options.metric_only) {
        text = to_metrics(report, options, first);
    } else if (options.format == Format::csv) {
        text = to_csv(report, options);
    } else {
        if (first) text = "#           time             counts unit events\n";
        const int where_width = widest_place(report);
        for (const auto& line : report.lines)
            text += row(line, report, options, where_width,
                        fmt::format("{:>16} ", seconds_text(report.interval_at_ns.value_or(0))));
        if (auto why = refusals(report); first && !why.empty()) text += "#" + why;
    }
    for (const auto& note : report.notes)
        if (first) text += "# " + note + "\n";
    return text;
}

}  // namespace anyperf::cli::stat

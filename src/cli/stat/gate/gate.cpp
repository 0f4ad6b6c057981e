// gate.cpp: the order of the decisions. gates_of() first decides which limits apply. Then the counts are compared, then
// the two runs. If the runs are not comparable, that is the verdict, even if counts grew: a count of another program on
// another CPU proves nothing, and a job must not report a regression that it did not see.
//
// A limit for an event that was not counted in both runs is "not comparable" as well. A job whose event is refused
// would otherwise pass for ever.
#include "cli/stat/gate/gate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "events/suggest/near_names.h"

namespace anyperf::cli::stat {

namespace {

/// The largest growth in per cent among the differences that have a limit and are `is_wanted`. Null if none is.
const Difference* largest(const Comparison& comparison, bool (*is_wanted)(const Difference&)) {
    const Difference* most = nullptr;
    for (const Difference& difference : comparison.differences)
        if (difference.limit && difference.growth() && is_wanted(difference) &&
            (most == nullptr || *difference.growth() > *most->growth()))
            most = &difference;
    return most;
}

bool grew(const Difference& difference) {
    return *difference.growth() > 0;
}

std::string described(const Difference& difference) {
    const TextRow text = text_of(difference);
    return fmt::format("{} {} ({}), limit {}%", text.name, text.growth, text.change, *difference.limit);
}

/// The user's limits. A deterministic run without any has a limit of 0 for each count that repeats.
std::vector<Gate> gates_of(std::span<const BaselineValue> values, const Options& options) {
    if (!options.gates.empty() || !options.backend.machine.deterministic) return options.gates;
    return limits_of_repeating(values);
}

}  // namespace

GateResult check_gate(const Baseline& earlier, std::span<const BaselineValue> now, const RunIdentity* identity,
                      std::vector<Gate> gates) {
    GateResult result;
    result.gates = std::move(gates);
    result.comparison = compare(earlier.events, now, result.gates);
    if (identity != nullptr) {
        result.obstacles = obstacles(earlier.identity, *identity);
        result.remarks = remarks(earlier.identity, *identity);
    }
    if (result.gates.empty() && result.obstacles.empty()) return result;
    if (!result.obstacles.empty() || !result.comparison.unmeasured.empty())
        result.verdict = Verdict::not_comparable;
    else
        result.verdict = result.comparison.passed ? Verdict::passed : Verdict::above;
    return result;
}

GateResult check_gate(const Baseline& earlier, const Report& report, const Options& options) {
    const std::vector<BaselineValue> now = values_of(report);
    return check_gate(earlier, now, report.identity ? &*report.identity : nullptr, gates_of(now, options));
}

// 1 and 2 are what many commands use for their own failures, and 125 to 127 are those of stat itself (docs/stat.md).
int exit_status_of(Verdict verdict) {
    constexpr int kAbove = 3;
    constexpr int kNotComparable = 4;
    return verdict == Verdict::above ? kAbove : verdict == Verdict::not_comparable ? kNotComparable : 0;
}

std::string verdict_line(const GateResult& result) {
    const std::string remarks = result.remarks.empty() ? "" : fmt::format(" ({})", fmt::join(result.remarks, "; "));
    switch (result.verdict) {
        case Verdict::no_gate: break;
        case Verdict::passed: {
            const Difference* const most = largest(result.comparison, grew);
            return "gate passed: " +
                   (most ? "the largest growth is " + described(*most) : "nothing with a limit grew") + remarks;
        }
        case Verdict::above: {
            const auto above = std::ranges::count_if(result.comparison.differences, &Difference::above);
            const Difference* const most =
                largest(result.comparison, [](const Difference& difference) { return difference.above(); });
            return fmt::format("gate failed: {} above {}{}{}", above, above == 1 ? "its limit" : "their limits",
                               most ? ": " + described(*most) : "", remarks);
        }
        case Verdict::not_comparable: {
            auto reasons = result.obstacles;
            for (const auto& event : result.comparison.unmeasured)
                reasons.push_back(event.empty() ? "no event was counted in both runs"
                                                : event + " was not counted in both runs");
            return fmt::format("not comparable: {}{}", fmt::join(reasons, "; "), remarks);
        }
    }
    return {};
}

// The limit may have ":u" where the event as typed has none: the report adds that modifier where only user mode could
// be counted.
Result<void> check_names_of_gates(std::span<const Gate> gates, std::span<const std::string> counted) {
    std::vector<std::string> known{counted.begin(), counted.end()};
    known.emplace_back(kWallTime);
    for (const Gate& gate : gates) {
        const auto is_it = [&](const std::string& name) { return gate.event == name || gate.event == name + ":u"; };
        if (gate.event.empty() || std::ranges::any_of(known, is_it)) continue;
        const std::string near = events::did_you_mean(gate.event, known);
        return std::unexpected(Error{fmt::format("bad --fail-above {}={}", gate.event, gate.percent),
                                     "no such event is counted: " + fmt::format("{}", fmt::join(known, ", ")),
                                     near.empty() ? "add it with -e" : near});
    }
    return {};
}

Result<void> check_writable(std::span<const std::string> files) {
    for (const std::string& file : files) {
        if (file == "-") continue;
        const std::filesystem::path path = file;
        const std::string directory = path.has_parent_path() ? path.parent_path().string() : ".";
        if (::access(file.c_str(), W_OK) == 0) continue;
        if (errno == ENOENT && ::access(directory.c_str(), W_OK) == 0) continue;
        return std::unexpected(Error{"cannot write " + file, std::generic_category().message(errno),
                                     "name a file that this user may write, in a directory that exists"});
    }
    return {};
}

Result<void> check_files_of_gate(const Options& options) {
    std::vector<std::string> files;
    if (options.update_baseline) files.push_back(options.baseline);
    for (const GateReport& report : options.parsed_gate_reports) files.push_back(report.file);
    return check_writable(files);
}

// A new file in the same directory is renamed to `file`, so that a reader sees the old report or the new one.
Result<void> write_baseline(const std::string& file, const std::string& report) {
    const std::string temporary = fmt::format("{}.{}.tmp", file, ::getpid());
    std::ofstream out{temporary, std::ios::binary};
    out << report;
    out.close();
    std::error_code failure;
    if (out) std::filesystem::rename(temporary, file, failure);
    if (out && !failure) return {};
    const std::string cause = out ? failure.message() : std::generic_category().message(errno);
    std::filesystem::remove(temporary, failure);
    return std::unexpected(Error{"cannot update the baseline " + file, cause,
                                 "the file is as it was; free disk space, or name another file with --baseline"});
}

}  // namespace anyperf::cli::stat

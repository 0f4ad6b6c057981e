// outcome.cpp: judging a bench goes from the most certain to the least: a command that failed has no counts to compare;
// counts that differ between its own runs say nothing about two versions; a bench that the baseline lacks cannot be
// compared. Only then are the limits checked (stat/gate).
#include "cli/bench/outcome.h"

#include <fmt/format.h>

#include <sys/stat.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "try.h"

namespace anyperf::cli::bench {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostBytes = 64U << 20;  // far more than the counts of any list of commands

/// Indexed by End.
struct EndRow {
    std::string_view name;
    int exit_status;
};
constexpr std::array<EndRow, 8> kEnds{{{"measured", 0},
                                       {"new", 0},
                                       {"passed", 0},
                                       {"above its limit", 3},
                                       {"not comparable", 4},
                                       {"not repeatable", 4},
                                       {"failed", 1},
                                       {"not measured", 125}}};

/// The user's limits. Without any, counts that repeat may not grow at all.
std::vector<stat::Gate> limits_of(const Bench& bench, const Measured& measured) {
    return bench.limits.empty() ? stat::limits_of_repeating(measured.counts.events) : bench.limits;
}

End end_of(const stat::GateResult& gate) {
    switch (gate.verdict) {
        case stat::Verdict::passed: return End::passed;
        case stat::Verdict::above: return End::above;
        case stat::Verdict::not_comparable: return End::not_comparable;
        case stat::Verdict::no_gate: break;
    }
    return End::not_repeatable;  // no limit was given, and no event repeats
}

std::string not_repeatable_text(const Measured& measured) {
    return "the counts of its runs differ; first: " + measured.first_difference;
}

}  // namespace

std::string_view name_of(End end) {
    return kEnds.at(static_cast<std::size_t>(end)).name;
}

int exit_status_of(End end) {
    return kEnds.at(static_cast<std::size_t>(end)).exit_status;
}

Outcome judge(const Bench& bench, Measured measured, const EarlierBench* earlier, bool has_baseline) {
    Outcome outcome{std::move(measured), End::measured, {}, ""};
    const Measured& now = outcome.measured;
    if (!now.succeeded()) {
        outcome.end = End::failed;
        outcome.line = fmt::format("the command exited with {}", now.exit_status);
        return outcome;
    }
    // A limit accepts differences up to its size, whether by chance or not. Without a limit only counts that repeat can
    // be judged.
    if (!now.repeats && bench.limits.empty()) {
        outcome.end = End::not_repeatable;
        outcome.line = not_repeatable_text(now);
        return outcome;
    }
    if (earlier == nullptr) {
        outcome.end = has_baseline ? End::added : End::measured;
        outcome.line = has_baseline ? "the baseline does not have it" : "";
        return outcome;
    }
    outcome.gate = stat::check_gate(earlier->counts, now.counts.events, &now.counts.identity, limits_of(bench, now));
    outcome.end = end_of(outcome.gate);
    outcome.line = stat::verdict_line(outcome.gate);
    return outcome;
}

Outcome not_measured(const Bench& bench, const Error& error) {
    Outcome outcome;
    outcome.measured.name = bench.name;
    outcome.measured.exit_status = error.exit_status;
    outcome.end = End::not_measured;
    outcome.line = fmt::format("{}{}{}", error.what, error.cause.empty() ? "" : ": ", error.cause);
    return outcome;
}

Result<std::vector<EarlierBench>> read_results(const std::string& path, const std::string& fix) {
    const auto bad_results = [&](std::string cause) {
        return Error{"cannot compare with " + path, std::move(cause), fix};
    };
    struct stat status{};
    if (::stat(path.c_str(), &status) != 0) return std::unexpected(bad_results(std::generic_category().message(errno)));
    if (!S_ISREG(status.st_mode)) return std::unexpected(bad_results("it is not a regular file"));
    if (static_cast<std::size_t>(status.st_size) > kMostBytes)
        return std::unexpected(bad_results("it is larger than 64 MiB"));
    std::ifstream in{path, std::ios::binary};
    const std::string text{std::istreambuf_iterator<char>{in}, std::istreambuf_iterator<char>{}};
    const Json file = Json::parse(text, nullptr, false);
    if (file.is_discarded()) return std::unexpected(bad_results("not valid JSON"));
    if (!file.is_object() || !file.contains("benches") || !file["benches"].is_array())
        return std::unexpected(bad_results("it has no array \"benches\""));
    std::vector<EarlierBench> benches;
    for (const Json& bench : file["benches"]) {
        if (!bench.is_object() || !bench.contains("name") || !bench["name"].is_string() || !bench.contains("report"))
            return std::unexpected(bad_results("an element of \"benches\" has no name, or no report"));
        auto counts = TRY(stat::baseline_in(nlohmann::json(bench["report"]), path));
        benches.push_back({bench["name"].get<std::string>(), bench["report"], std::move(counts)});
    }
    return benches;
}

// Benches of the baseline that were not measured this time stay in it: --filter must not throw the others away.
std::string results_text(std::span<const Outcome> outcomes, std::span<const EarlierBench> earlier) {
    Json benches = Json::array();
    for (const Outcome& outcome : outcomes)
        if (outcome.measured.succeeded())
            benches.push_back({{"name", outcome.measured.name}, {"report", outcome.measured.report}});
    for (const EarlierBench& bench : earlier) {
        const auto measured = [&](const Outcome& outcome) { return outcome.measured.name == bench.name; };
        if (std::ranges::none_of(outcomes, measured))
            benches.push_back({{"name", bench.name}, {"report", bench.report}});
    }
    const Json file{{"benches", benches}};
    return file.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace anyperf::cli::bench

// measure.cpp: what a bench needs of another process is text: the JSON of `stat --json` and of `run --count-to`, and
// the words of an error. Both come through a descriptor of their own (kResults), because the command has the standard
// ones.
//
// If counts differ, `stat` says only that they do: it adds up all threads. So find_difference() repeats the command by
// `run`, which counts each thread, until two runs differ, and names the first thread that does.
#include "cli/bench/measure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <system_error>

#include "cli/bench/child.h"
#include "cli/command/backend.h"
#include "try.h"

namespace anyperf::cli::bench {

namespace {

using Json = nlohmann::ordered_json;

/// This program's own file; the kernel finds it even if it was renamed.
constexpr const char* kSelf = "/proc/self/exe";
constexpr int kAnyperfFailed = 125;

std::string input_of(const Bench& bench) {
    return bench.input.empty() ? "/dev/null" : bench.input;
}

/// The options of `run` and `stat` that make a run repeatable and choose the presented machine.
std::vector<std::string> machine_words(const Bench& bench) {
    std::vector<std::string> words{"--deterministic", "--seed", std::to_string(bench.seed)};
    if (!bench.turns) words.emplace_back("--no-turns");
    if (!bench.cpu_model.empty()) words.insert(words.end(), {"--cpu-model", bench.cpu_model});
    if (!bench.machine.empty()) words.insert(words.end(), {"--machine", bench.machine});
    return words;
}

Result<ChildResult> run_verb(const Bench& bench, std::vector<std::string> words) {
    words.insert(words.begin(), kSelf);
    words.emplace_back("--");
    words.insert(words.end(), bench.command.begin(), bench.command.end());
    return run_child({words, bench.directory, input_of(bench), bench.environment});
}

/// The rest of the line after the last `key`, such as "  cause: " in an error of anyperf; empty if `text` does not have
/// the key.
std::string after(const std::string& text, std::string_view key) {
    const auto at = text.rfind(key);
    if (at == std::string::npos) return "";
    const auto begin = at + key.size();
    return text.substr(begin, text.find('\n', begin) - begin);
}

/// What the command wrote to standard error: the text without the line by which `stat` announces that it counts in user
/// space.
std::string errors_of_command(std::string text) {
    const std::string announced = fmt::format("anyperf: {}\n", kCountsInUserSpace);
    if (const auto at = text.find(announced); at != std::string::npos) text.erase(at, announced.size());
    return text;
}

/// The error that `stat` has printed, as an Error.
Error error_in(const Bench& bench, const std::string& text) {
    std::string what = after(text, "anyperf: ");
    return {fmt::format("cannot measure '{}'{}{}", bench.name, what.empty() ? "" : ": ", what),
            text.find("  cause: ") == std::string::npos ? text : after(text, "  cause: "), after(text, "  fix:   ")};
}

/// The directory of the command is looked at first: what cannot be started there reports another cause.
Result<void> look_at_directory(const Bench& bench) {
    std::error_code error;
    const bool is_one = std::filesystem::is_directory(bench.directory, error);
    if (is_one && ::access(bench.directory.c_str(), X_OK) != 0) error = {errno, std::generic_category()};
    if (is_one && !error) return {};
    return std::unexpected(Error{fmt::format("cannot measure '{}' in {}", bench.name, bench.directory),
                                 error ? error.message() : "it is no directory",
                                 "make the directory, or name another one as `directory` of the bench"});
}

/// The file of standard input, after the set-up, which may make it.
Result<void> look_at_input(const Bench& bench) {
    if (::access(input_of(bench).c_str(), R_OK) == 0) return {};
    return std::unexpected(Error{fmt::format("cannot measure '{}' with the input {}", bench.name, bench.input),
                                 std::generic_category().message(errno),
                                 "make the file in `setup`, or name another one as `input` of the bench"});
}

Result<void> run_setup(const Bench& bench) {
    if (bench.setup.empty()) return {};
    const ChildResult setup = TRY(run_child({{"/bin/sh", "-c", bench.setup}, bench.directory, "/dev/null", {}}));
    if (setup.exit_status == 0) return {};
    return std::unexpected(Error{fmt::format("cannot measure '{}': its setup failed", bench.name),
                                 fmt::format("'{}' exited with {}{}{}", bench.setup, setup.exit_status,
                                             setup.errors.empty() ? "" : ": ", setup.errors),
                                 "run it in " + bench.directory});
}

/// One thread of a run.
struct ThreadCounts {
    std::string name;  ///< "thread 2 (worker) of process 1 (python3)"
    Json counts;
};

/// The threads in the report of `run --count-to`, in the order in which they began.
std::vector<ThreadCounts> threads_in(const std::string& text) {
    std::vector<ThreadCounts> threads;
    const Json run = Json::parse(text, nullptr, false);
    if (!run.is_object() || !run.contains("processes")) return threads;
    int process_number = 0;
    for (const Json& process : run["processes"]) {
        ++process_number;
        int number = 0;
        for (const Json& thread : process["threads"])
            threads.push_back({fmt::format("thread {} of process {} ({})", ++number, process_number,
                                           thread.value("comm", process.value("comm", ""))),
                               thread["counts"]});
    }
    return threads;
}

std::string difference_of(const std::vector<ThreadCounts>& first, const std::vector<ThreadCounts>& second) {
    for (std::size_t i = 0; i < std::min(first.size(), second.size()); ++i) {
        if (first[i].name != second[i].name) return fmt::format("{}, then {}", first[i].name, second[i].name);
        for (const auto& [quantity, count] : first[i].counts.items())
            if (const Json other = second[i].counts.value(quantity, Json{}); other != count)
                return fmt::format("{}: {} {}, then {}", first[i].name, count.dump(), quantity, other.dump());
    }
    if (first.size() != second.size())
        return fmt::format("{} threads in one run, then {}", first.size(), second.size());
    return "";
}

/// The first difference between a run that counts each thread and a later one. There are up to ten runs, because a rare
/// difference may not show at once.
Result<std::string> find_difference(const Bench& bench) {
    constexpr int kMostRuns = 10;
    std::vector<std::string> words{"run"};
    const auto machine = machine_words(bench);
    words.insert(words.end(), machine.begin(), machine.end());
    words.insert(words.end(), {"--count-to", fmt::format("/proc/self/fd/{}", kResults)});
    std::vector<ThreadCounts> first;
    for (int run = 0; run < kMostRuns; ++run) {
        const ChildResult result = TRY(run_verb(bench, words));
        auto threads = threads_in(result.results);
        if (run == 0) {
            first = std::move(threads);
            continue;
        }
        if (std::string difference = difference_of(first, threads); !difference.empty()) return difference;
    }
    return fmt::format("not found: {} further runs had one count", kMostRuns);
}

/// Whether all runs gave the same count. Also true for the elapsed time, which never repeats and therefore has no
/// `runs`.
bool has_one_count(const stat::BaselineValue& value) {
    return std::ranges::adjacent_find(value.runs, std::not_equal_to{}) == value.runs.end();
}

/// One run by `stat`: its report, or how the command failed.
Result<Measured> measure_once(const Bench& bench) {
    std::vector<std::string> words{"stat", "--virtual", "--json", "--log-fd", std::to_string(kResults)};
    const auto machine = machine_words(bench);
    words.insert(words.end(), machine.begin(), machine.end());
    for (const std::string& event : bench.events) words.insert(words.end(), {"-e", event});
    const ChildResult result = TRY(run_verb(bench, words));
    const Json report = Json::parse(result.results, nullptr, false);
    if (report.is_discarded()) return std::unexpected(error_in(bench, result.errors));
    Measured measured;
    measured.name = bench.name;
    measured.errors = errors_of_command(result.errors);
    measured.exit_status = report.value("exit", result.exit_status);
    if (!measured.succeeded()) return measured;
    if (result.exit_status == kAnyperfFailed) return std::unexpected(error_in(bench, result.errors));
    measured.report = report;
    measured.counts = TRY(stat::baseline_in(nlohmann::json(report), "the counts of " + bench.name));
    for (stat::BaselineValue& value : measured.counts.events)
        if (value.name != stat::kWallTime) value.runs = {value.value};
    return measured;
}

/// Writes the counts of all runs into the report, as `stat -r` does.
void add_runs(Measured& measured) {
    for (Json& event : measured.report["events"]) {
        const auto value = std::ranges::find_if(measured.counts.events, [&](const stat::BaselineValue& each) {
            return each.name == event.value("name", "") && each.where == event.value("where", "");
        });
        if (value != measured.counts.events.end()) event["runs"] = {{"values", value->runs}};
    }
}

}  // namespace

// Each run is a `stat` of its own, because all runs of one `stat -r` share one standard input, which the first of them
// reads to its end.
Result<Measured> measure(const Bench& bench) {
    TRY(look_at_directory(bench));
    TRY(run_setup(bench));
    TRY(look_at_input(bench));
    Measured measured = TRY(measure_once(bench));
    for (int run = 1; run < bench.runs && measured.succeeded(); ++run) {
        Measured next = TRY(measure_once(bench));
        if (!next.succeeded()) return next;
        auto& values = measured.counts.events;
        for (std::size_t i = 0; i < std::min(values.size(), next.counts.events.size()); ++i)
            if (!values[i].runs.empty()) values[i].runs.push_back(next.counts.events[i].value);
    }
    if (!measured.succeeded()) return measured;
    add_runs(measured);
    measured.report["runs"] = bench.runs;
    measured.repeats = std::ranges::all_of(measured.counts.events, has_one_count);
    if (!measured.repeats) measured.first_difference = TRY(find_difference(bench));
    return measured;
}

}  // namespace anyperf::cli::bench

// schedules.cpp: each order is a run of its own, `anyperf run --order N`, so a run that the user repeats later with
// that number is the same run. Three things of a run are compared: the exit status, the output, and the counts of each
// thread. The counts notice a race whose result was the same by chance; they are reported, but do not decide.
//
// An order that makes all threads wait for each other ends the run with an error. That is a result, too: the program
// can deadlock.
#include "cli/schedules/schedules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>

#include "cli/bench/child.h"
#include "cli/output/output.h"
#include "try.h"

namespace anyperf::cli::schedules {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kAnyperfFailed = 125;

/// What can be seen of one run.
struct Outcome {
    int exit_status = 0;
    std::string output;
    std::string counts;  ///< of each thread
};

/// The counts of each thread in the report of `run --count-to`, without the kernel's ids.
std::string counts_in(const std::string& text) {
    Json run = Json::parse(text, nullptr, false);
    if (!run.is_object() || !run.contains("processes")) return "";
    for (Json& process : run["processes"]) {
        process.erase("pid");
        for (Json& thread : process["threads"]) thread.erase("tid");
    }
    return run["processes"].dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Outcome> run_once(const SchedulesOptions& options, std::uint64_t order) {
    bench::ChildOptions child{{"/proc/self/exe", "run"}, ".", "/dev/null", {}, true};
    child.words.insert(child.words.end(), options.machine.begin(), options.machine.end());
    child.words.insert(child.words.end(), {"--order", std::to_string(order), "--count=instructions", "--count-to",
                                           fmt::format("/proc/self/fd/{}", bench::kResults), "--"});
    child.words.insert(child.words.end(), options.command.begin(), options.command.end());
    bench::ChildResult result = TRY(bench::run_child(child));
    // With a report the command ran, and 125 is its own status. The words are those of a deadlock's error.
    if (result.exit_status == kAnyperfFailed && result.results.empty() &&
        !result.errors.contains("wait for each other"))
        return std::unexpected(Error{fmt::format("cannot run with order {}", order), result.errors, ""});
    return Outcome{result.exit_status, std::move(result.output), counts_in(result.results)};
}

/// How often each value of a part occurred, and the first order that had it.
template <class Value>
class Tally {
  public:
    void add(const Value& value, std::uint64_t order) {
        ++seen_.try_emplace(value, Entry{order, 0}).first->second.times;
    }
    std::size_t distinct() const { return seen_.size(); }
    /// Each value's number of runs, and the order that shows it, the earliest first.
    std::string text(const char* what) const {
        std::map<std::uint64_t, std::uint64_t> by_order;
        for (const auto& [value, entry] : seen_) by_order[entry.order] = entry.times;
        std::string text = fmt::format("  {:<12} {} different:", what, seen_.size());
        constexpr std::size_t kShown = 8;
        std::size_t shown = 0;
        for (const auto& [order, times] : by_order) {
            if (shown++ == kShown) break;
            text += fmt::format("{} {} run{} as with --order {}", shown == 1 ? "" : ",", times, times == 1 ? "" : "s",
                                order);
        }
        return text + (by_order.size() > kShown ? ", …\n" : "\n");
    }

  private:
    struct Entry {
        std::uint64_t order;
        std::uint64_t times;
    };
    std::map<Value, Entry> seen_;
};

}  // namespace

Result<int> run_schedules(const SchedulesOptions& options, Output& out) {
    Tally<int> statuses;
    Tally<std::string> outputs, counts;
    for (std::uint64_t i = 0; i < options.count; ++i) {
        const std::uint64_t order = options.first + i;
        const Outcome outcome = TRY(run_once(options, order));
        statuses.add(outcome.exit_status, order);
        outputs.add(outcome.output, order);
        counts.add(outcome.counts, order);
    }
    const bool differs = statuses.distinct() > 1 || outputs.distinct() > 1;
    out.print(fmt::format("{} orders of the threads of {}: {}\n", options.count, fmt::join(options.command, " "),
                          differs ? "the result depends on the order" : "one result"));
    out.print(statuses.text("exit status"));
    out.print(outputs.text("output"));
    out.print(counts.text("counts"));
    return differs ? 1 : 0;
}

}  // namespace anyperf::cli::schedules

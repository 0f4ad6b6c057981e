#include "cli/stat/output/run_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/stat/statistics.h"

namespace anyperf::cli::stat {

namespace {

constexpr double kPercentPerMark = 5;
constexpr std::size_t kLongestBar = 60;

/// perf's bar: a mark, and one more for each 5 percent of the run's time by which it differs from the mean.
std::string bar(double seconds, double mean) {
    const double percent = seconds == 0 ? 0 : 100 * std::abs(seconds - mean) / seconds;
    const auto marks = static_cast<std::size_t>(std::min(percent / kPercentPerMark, static_cast<double>(kLongestBar)));
    return std::string(std::min(1 + marks, kLongestBar), '#');
}

}  // namespace

std::string run_table(const Report& report) {
    const Summary wall = summarize(report.wall_runs);
    const double mean = wall.mean / 1e9;
    std::string text = fmt::format("\n{:10}# Table of individual measurements:\n", "");
    for (const double ns : report.wall_runs)
        text += fmt::format("{:10}{:.6f} ({:+.6f}) {}\n", "", ns / 1e9, ns / 1e9 - mean, bar(ns / 1e9, mean));
    const double error = wall.deviation / 1e9 / std::sqrt(static_cast<double>(report.wall_runs.size()));
    return text + fmt::format("\n{:10}# Final result:\n{:10}{:.6f} +- {:.6f} seconds time elapsed  ( +- {:5.2f}% )\n",
                              "", "", mean, error, mean == 0 ? 0 : 100 * error / mean);
}

}  // namespace anyperf::cli::stat

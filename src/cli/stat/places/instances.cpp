// instances.cpp: adds up the lines of an event's instances, one for each instance of an uncore PMU.
#include "cli/stat/places/instances.h"

#include <algorithm>
#include <set>

namespace anyperf::cli::stat {

namespace {

/// A line of the result, and the PMUs whose lines it adds up. It takes one line of each PMU. A second line of the same
/// PMU belongs to another sum, because the user typed the name twice.
struct Sum {
    Line line;
    std::set<std::string> pmus;

    bool takes(const Line& other) const {
        return line.event.cpu_wide_only && other.event.cpu_wide_only && !pmus.contains(other.event.pmu) &&
               line.event.source_text == other.event.source_text && line.where == other.where &&
               line.cgroup == other.cgroup && line.metric_set == other.metric_set &&
               line.event.unit == other.event.unit && line.event.scale == other.event.scale;
    }
};

/// The sum keeps a refusal only if every PMU refused the event.
void add(Sum& sum, Line other) {
    sum.pmus.insert(other.event.pmu);
    sum.line.name = sum.line.event.source_text;
    sum.line.count = sum.line.count + other.count;
    sum.line.user_only |= other.user_only;
    if (!other.refusal) sum.line.refusal.reset();
}

}  // namespace

// perf adds up the instances of an uncore PMU ("uncore_imc_0", "uncore_imc_1") unless --no-merge asks for each.
std::vector<Line> merged_instances(std::vector<Line> lines) {
    std::vector<Sum> sums;
    for (auto& line : lines) {
        const auto sum = std::ranges::find_if(sums, [&](const Sum& known) { return known.takes(line); });
        if (sum != sums.end())
            add(*sum, std::move(line));
        else
            sums.push_back({line, {line.event.pmu}});
    }
    std::vector<Line> merged;
    for (auto& sum : sums) merged.push_back(std::move(sum.line));
    return merged;
}

}  // namespace anyperf::cli::stat

// baseline.h: compares with an earlier `stat --json`: the gate of a CI job.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "cli/stat/options.h"
#include "cli/stat/report.h"

namespace anyperf::cli::stat {

/// A value of the earlier run.
struct Earlier {
    std::string name;
    std::string where;
    std::string cgroup;
    double value = 0;
};

struct Baseline {
    std::string mode;  ///< "kernel", "virtual"; empty: the file doesn't say
    std::vector<Earlier> events;
};

/// Error: the file can't be read, or is not what `stat --json` writes; the cause tells where.
Result<Baseline> read_baseline(const std::string& file);

/// A line where one of both was counted by the kernel and the other in user space, which sees less; else empty.
std::string warning(const Baseline& earlier, const Report& report);

struct Comparison {
    std::vector<Difference> differences;
    std::vector<std::string> unmeasured;  ///< gates that name what wasn't counted in both runs
    bool passed = true;
};

/// Every event that both have, and for those that only one has, that. A gate that names an event which can't be
/// compared does not pass; more of something is a growth, less never fails. From 0 to anything is growth beyond every
/// limit.
Comparison compare(std::span<const Earlier> earlier, const Report& report, std::span<const Gate> gates);

/// For people: a row an event, and the gates that could not be measured.
std::string to_table(const Comparison& comparison);

}  // namespace anyperf::cli::stat

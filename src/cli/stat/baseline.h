// baseline.h: compares a report with an earlier `stat --json`, for the gate of a CI job (--baseline, --fail-above).
// Only counts with the same name, place and cgroup are compared.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "cli/stat/options.h"
#include "cli/stat/output/report.h"

namespace anyperf::cli::stat {

/// A count of the earlier run. The fields are those of Line.
struct BaselineValue {
    std::string name;
    std::string where;
    std::string cgroup;
    double value = 0;
};

struct Baseline {
    std::string mode;                   ///< "kernel", "virtual"; empty: the file does not say
    std::vector<BaselineValue> events;  ///< counted ones; the elapsed time is one of them, named "wall_ns"
};

/// Reads a file that `stat --json` wrote; a pipe works, too. Error: the file cannot be read, or is not such a report;
/// the cause says what is wrong with it.
Result<Baseline> read_baseline(const std::string& file);

/// A line for people if one run was counted by the kernel and the other in user space, which sees less; else empty.
std::string mode_warning(const Baseline& earlier, const Report& report);

struct Comparison {
    std::vector<Difference> differences;
    std::vector<std::string> unmeasured;  ///< events of gates that could not be compared; "" is the general gate
    bool passed = true;                   ///< no growth is above its limit, and no gate is unmeasured
};

/// Compares all events that either run counted. Only growth can fail a gate, never a decrease; growth from 0 is above
/// every limit. A gate for an event that was not counted in both runs fails, since a gate that cannot measure must not
/// pass. The elapsed time fails only a gate that names "wall_ns", because time is noisy.
Comparison compare(std::span<const BaselineValue> earlier, const Report& report, std::span<const Gate> gates);

/// The differences as a table, a row for each event, and a line for each gate that could not be measured.
std::string to_table(const Comparison& comparison);

}  // namespace anyperf::cli::stat

// comparison.h: compares a report with an earlier `stat --json` (--baseline), count by count, with the limits of
// --fail-above. Only counts with the same name, place and cgroup are compared. gate.h derives the verdict.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"
#include "cli/stat/options.h"
#include "cli/stat/output/report.h"
#include "cli/stat/run_identity.h"

namespace anyperf::cli::stat {

/// The elapsed time is compared as an event of this name.
inline constexpr std::string_view kWallTime = "wall_ns";

/// A count of a run. The fields are those of Line.
struct BaselineValue {
    std::string name;
    std::string where;
    std::string cgroup;
    double value = 0;
    std::vector<double> runs = {};  ///< with -r: the value of each run; empty: there was one run
};

struct Baseline {
    RunIdentity identity;               ///< fields that the file does not have are empty
    std::vector<BaselineValue> events;  ///< counted ones; the elapsed time is one of them, named "wall_ns"
};

/// Reads a file that `stat --json` wrote; a pipe works, too. Error: the file cannot be read, or is not such a report;
/// the cause says what is wrong with it.
Result<Baseline> read_baseline(const std::string& file);

/// The same for a report that is already parsed; errors call it `file`.
Result<Baseline> baseline_in(const nlohmann::json& report, const std::string& file);

/// The values of a report that can be compared: all events that were counted, and the elapsed time.
std::vector<BaselineValue> values_of(const Report& report);

struct Comparison {
    std::vector<Difference> differences;
    std::vector<std::string> unmeasured;  ///< events of gates that could not be compared; "" is the general gate
    bool passed = true;                   ///< no growth is above its limit, and no gate is unmeasured
};

/// A limit of 0 for each event that had the same count in all runs of -r: counts that repeat may not grow at all.
/// Events with a single run have no limit.
std::vector<Gate> limits_of_repeating(std::span<const BaselineValue> values);

/// Compares all events that either run counted. Only growth can fail a gate, never a decrease; growth from 0 is above
/// every limit. A gate for an event that was not counted in both runs fails, since a gate that cannot measure must not
/// pass. The elapsed time fails only a gate that names "wall_ns", because time is noisy.
Comparison compare(std::span<const BaselineValue> earlier, std::span<const BaselineValue> now,
                   std::span<const Gate> gates);

/// The texts of a row for people; "-" for a value that one run lacks.
struct TextRow {
    std::string name;
    std::string before;
    std::string now;
    std::string change;  ///< in events: "+12"
    std::string growth;  ///< "+0.10%", "from 0"
};
TextRow text_of(const Difference& difference);
/// "+0.10%", "from 0"; "-" if there is no growth to show.
std::string growth_text(const std::optional<double>& growth);

/// One difference as an object of `stat --json`: "name", "baseline", "now", "growth_percent", "limit_percent", "above".
nlohmann::ordered_json json_of(const Difference& difference);

/// The differences as a table, a row for each event, and a line for each gate that could not be measured.
std::string to_table(const Comparison& comparison);

}  // namespace anyperf::cli::stat

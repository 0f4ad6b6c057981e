// outcome.h: how a bench's counts compare with those of the baseline, and the file that has the counts of all benches.
//
// A bench has one of these ends. The exit status of `anyperf bench` is that of the worst, in this order. With
// --update-baseline it is 0, unless a command failed or was not measured.
//
//   not_measured  125  its set-up failed, or it cannot be run or counted; the other benches are measured all the same
//   failed          1  the command's exit status was not 0
//   not_repeatable  4  its counts differ between runs, and no limit allows for that
//   not_comparable  4  the runs differ in more than the program, or a limit's event was not counted in both
//   above           3  a count grew by more than its limit
//   passed, added, measured  0  within the limits; not in the baseline; no baseline
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/bench/measure.h"
#include "cli/stat/gate/gate.h"

namespace anyperf::cli::bench {

enum class End { measured, added, passed, above, not_comparable, not_repeatable, failed, not_measured };

struct Outcome {
    Measured measured;
    End end = End::measured;
    stat::GateResult gate;  ///< empty unless the counts were compared with the baseline
    std::string line;       ///< one sentence for people
};

/// The counts of one bench in a baseline.
struct EarlierBench {
    std::string name;
    nlohmann::ordered_json report;
    stat::Baseline counts;
};

/// Judges what was measured. `earlier` is null if the baseline does not have the bench. `has_baseline` is whether there
/// is a baseline.
Outcome judge(const Bench& bench, Measured measured, const EarlierBench* earlier, bool has_baseline);

/// The outcome of a bench that measure() has refused.
Outcome not_measured(const Bench& bench, const Error& error);

/// The words of reports for an end: "passed", "above its limit", …; `added` is "new".
std::string_view name_of(End end);
/// 0, 1, 3, 4 or 125, as in the list above.
int exit_status_of(End end);

/// Reads the file that --update-baseline writes. Error: it cannot be read, or is not such a file; `fix` becomes the fix
/// of that error.
Result<std::vector<EarlierBench>> read_results(const std::string& path, const std::string& fix);

/// The text of such a file: the benches that were measured and succeeded, and those of `earlier` that were not
/// measured.
std::string results_text(std::span<const Outcome> outcomes, std::span<const EarlierBench> earlier);

}  // namespace anyperf::cli::bench

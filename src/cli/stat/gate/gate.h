// gate.h: the gate of a CI job: `stat --baseline FILE --fail-above LIMIT`. A gate has one of three ends, each with an
// exit status of its own, so that a job can tell a regression from a measurement that means nothing:
//
//   0  every count is within its limit
//   3  a count grew by more than its limit
//   4  the runs are not comparable: they differ in more than the program, or a limit's event was not counted in both
//
// If the command itself fails, stat exits with the command's status instead.
#pragma once

#include <string>
#include <vector>

#include "anyperf/error.h"
#include "cli/stat/gate/comparison.h"

namespace anyperf::cli::stat {

enum class Verdict { no_gate, passed, above, not_comparable };

struct GateResult {
    Comparison comparison;
    std::vector<std::string> obstacles;  ///< why the runs are not comparable
    std::vector<std::string> remarks;    ///< what differs but does not make them incomparable
    std::vector<Gate> gates;             ///< the limits that were checked; empty: no gate
    Verdict verdict = Verdict::no_gate;
};

/// Checks the report. If the user gave no limit and the run is deterministic, each event that -r has shown to repeat
/// has the limit 0.
GateResult check_gate(const Baseline& earlier, const Report& report, const Options& options);

/// The same for counts of any origin, with the limits `gates`. `identity` is that of the present run. If it is null,
/// the runs are taken as comparable.
GateResult check_gate(const Baseline& earlier, std::span<const BaselineValue> now, const RunIdentity* identity,
                      std::vector<Gate> gates);

/// 0, 3 or 4.
int exit_status_of(Verdict verdict);

/// One line without a newline: "gate passed: …", "gate failed: …", "not comparable: …". Empty without a gate.
std::string verdict_line(const GateResult& result);

/// Checks before the run that the event of each limit is counted. Error: a limit names another event; the fix suggests
/// the nearest one that is counted.
Result<void> check_names_of_gates(std::span<const Gate> gates, std::span<const std::string> counted);

/// Checks before the run that the files of --update-baseline and --gate-report can be written, so that a wrong name
/// does not cost the results. Error: a file cannot be written.
Result<void> check_files_of_gate(const Options& options);
/// The same for any files; "-" is standard output.
Result<void> check_writable(std::span<const std::string> files);

/// Replaces the baseline by the report, completely or not at all. Error: the file cannot be written.
Result<void> write_baseline(const std::string& file, const std::string& report);

}  // namespace anyperf::cli::stat

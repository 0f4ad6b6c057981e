// gate.h: the gate of a CI job: `stat --baseline FILE --fail-above LIMIT`. A gate has one of three ends, each with an
// exit status of its own, so that a job can tell a regression from a measurement that means nothing:
//
//   0  every count is within its limit
//   3  a count grew by more than its limit
//   4  the runs are not comparable: they differ in more than the program, or a limit's event was not counted in both
//
// The command's own failure comes first: its status is that of stat.
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
    std::vector<std::string> remarks;    ///< what differs besides
    std::vector<Gate> gates;             ///< the limits that were checked; empty: no gate
    Verdict verdict = Verdict::no_gate;
};

/// Checks the report. Without a limit of the user's, events of a deterministic run that -r has shown to repeat have the
/// limit 0.
GateResult check_gate(const Baseline& earlier, const Report& report, const Options& options);

/// The same for counts of any origin, with these limits. `identity`, of the run now, may be null: then the runs are
/// taken as comparable.
GateResult check_gate(const Baseline& earlier, std::span<const BaselineValue> now, const RunIdentity* identity,
                      std::vector<Gate> gates);

/// 0, 3 or 4.
int exit_status_of(Verdict verdict);

/// One line without a newline: "gate passed: …", "gate failed: …", "not comparable: …". Empty without a gate.
std::string verdict_line(const GateResult& result);

/// Before the run: the event of each limit must be one that is counted. Error: a limit for another name, with the
/// nearest that is counted.
Result<void> check_names_of_gates(std::span<const Gate> gates, std::span<const std::string> counted);

/// Before the run, whose results must not be lost to a wrong name: the files of --update-baseline and --gate-report can
/// be written. Error: one cannot.
Result<void> check_files_of_gate(const Options& options);
/// The same for files of any kind; "-" is standard output.
Result<void> check_writable(std::span<const std::string> files);

/// Replaces the baseline by the report, whole or not at all. Error: the file cannot be written.
Result<void> write_baseline(const std::string& file, const std::string& report);

}  // namespace anyperf::cli::stat

// gate_report.h: the result of a gate in the formats that CI systems show (--gate-report FORMAT=FILE).
#pragma once

#include <string>

#include "anyperf/error.h"
#include "cli/stat/gate/gate.h"

namespace anyperf::cli::stat {

/// Writes the result in the format of the option to its file; "-" is standard output. Markdown is appended, because
/// GitHub shows all text in a step's summary file ($GITHUB_STEP_SUMMARY), which other commands of the step may write to
/// as well. Error: the file cannot be written.
Result<void> write_gate_report(const GateReport& wanted, const GateResult& result, const Report& report);

/// Parses a value of --gate-report, such as "markdown=FILE". Error: no such format, or no file.
Result<GateReport> parse_gate_report(const std::string& text);

}  // namespace anyperf::cli::stat

// reports.h: the outcomes of all benches as one report, in the formats of --report.
#pragma once

#include <span>
#include <string>

#include "anyperf/error.h"
#include "cli/bench/outcome.h"

namespace anyperf::cli::bench {

/// Parses a value of --report, such as "markdown=FILE". Error: no such format, or no file.
Result<stat::GateReport> parse_report(const std::string& text);

/// Writes the outcomes in that format. Markdown is appended to the file, because GitHub shows all text in a step's
/// summary file ($GITHUB_STEP_SUMMARY), which other commands of the step may write to as well. Error: the file cannot
/// be written.
Result<void> write_report(const stat::GateReport& wanted, std::span<const Outcome> outcomes);

/// For people: a table with a row for each event of each bench, and a line for each bench that is new or whose end has
/// another exit status than 0. A command that failed has its standard error there.
std::string to_text(std::span<const Outcome> outcomes);
/// "3 benches: 2 passed, 1 above its limit".
std::string summary(std::span<const Outcome> outcomes);
/// The outcomes as one JSON object: "benches", each with "name", "end", "line", "report", "differences", …
std::string to_json(std::span<const Outcome> outcomes);

}  // namespace anyperf::cli::bench

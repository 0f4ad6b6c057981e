// machine_table.h: the counts of the same command on several modelled machines, side by side.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/stat/options.h"
#include "cli/stat/output/report.h"

namespace anyperf::cli::stat {

/// The measurement on one machine.
struct MachineReport {
    std::string machine;
    Report report;
};

/// The names that --machine gives, separated by commas. One name if it is a file's.
std::vector<std::string> machines_of(const std::string& argument);

/// A row for each event and a column for each machine. From the second column on, events that the models count are
/// compared with the first. Precondition: at least one report; all have the lines of the same events.
std::string to_machine_table(std::span<const MachineReport> reports, const Options& options);

}  // namespace anyperf::cli::stat

// rows.h: which places of a target make one line of the report: all of them, or those of one CPU, core, die, socket,
// NUMA node or thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "anyperf/target.h"
#include "cli/stat/options.h"
#include "host/root.h"

namespace anyperf::cli::stat {

/// The places whose counts are added up in one line.
struct Row {
    std::string label;  ///< "CPU0", "S0-D0-C1", "N0", "bash-3229"; empty: all places
    pid_t thread = 0;   ///< the thread that the label names; 0: none
    int cpus = 0;       ///< how many CPUs of the core, die, socket or node are counted; 0: the row is none of these
    std::vector<std::size_t> places;  ///< indexes into the places of the set
};

/// The rows in the order in which they are printed. `root` has the topology of the CPUs and the names of the threads.
/// Error: sysfs does not say where a CPU is.
Result<std::vector<Row>> rows_of(std::span<const counting::Place> places, const Options& options,
                                 const host::Root& root);

/// The row's label. A thread that still runs is called by its present name.
std::string current_label(const Row& row, const host::Root& root);

/// All threads of the machine, of every process.
std::vector<pid_t> all_threads(const host::Root& root);

}  // namespace anyperf::cli::stat

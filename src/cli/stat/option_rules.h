// option_rules.h: options of stat that only perf's users know by name, and the combinations that are refused.
#pragma once

#include "anyperf/error.h"
#include "cli/stat/options.h"

namespace anyperf::cli::stat {

/// Adds the options about repeated runs: --pre, --post, --table.
void declare_series_options(CLI::App& verb, Options& options);
/// Adds the options about what is counted: --filter, --for-each-cgroup, --topdown.
void declare_event_options(CLI::App& verb, Options& options);
/// Assigns each --filter to the -e before it. `verb` has been parsed. Error: there is no -e before one.
Result<void> assign_filters(const CLI::App& verb, Options& options);
/// Adds the options by which others control the measurement: --control.
void declare_control_options(CLI::App& verb, Options& options);
/// Adds the options about what is one line: --per-thread, --per-core and the like, --no-merge.
void declare_place_options(CLI::App& verb, Options& options);
/// Adds the options about where results go and which: --log-fd, --quiet, --summary, --no-csv-summary.
void declare_output_options(CLI::App& verb, Options& options);

/// The level of the machine that the options ask for; none if they do not.
std::optional<CpuLevel> cpu_level_of(const Options& options);

/// Checks the combinations of these options with others. `options` have been parsed. Error: of the first rule that is
/// broken.
Result<void> check_rules(const Options& options);

}  // namespace anyperf::cli::stat

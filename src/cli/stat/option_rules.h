// option_rules.h: the rest of the options of stat (options.h has the first ones), and the combinations of options that
// are refused.
#pragma once

#include "anyperf/error.h"
#include "cli/stat/options.h"

namespace anyperf::cli::stat {

/// Adds the options about repeated runs: --pre, --post, --table.
void declare_series_options(CLI::App& verb, Options& options);
/// Adds the options about what is counted: --filter, --metrics, --metric-no-group, --metric-no-merge,
/// --for-each-cgroup, --topdown.
void declare_event_options(CLI::App& verb, Options& options);
/// Adds the option by which another program controls the measurement: --control.
void declare_control_options(CLI::App& verb, Options& options);
/// Adds the options about what one line covers: --per-thread, --per-core and the like, --no-merge.
void declare_place_options(CLI::App& verb, Options& options);
/// Adds the options about which results are printed, and where: --log-fd, --quiet, --summary, --no-csv-summary.
void declare_output_options(CLI::App& verb, Options& options);

/// The level of the machine by which the options add up counts; no value if they name none.
std::optional<CpuLevel> cpu_level_of(const Options& options);

/// Checks combinations of options. `options` must have passed check(). Error: the first rule that is broken.
Result<void> check_rules(const Options& options);

}  // namespace anyperf::cli::stat

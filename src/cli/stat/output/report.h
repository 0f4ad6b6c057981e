// report.h: the result of a measurement, before a writer turns it into text (writers.h).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "anyperf/count.h"
#include "anyperf/error.h"
#include "anyperf/event.h"
#include "cli/stat/run_identity.h"
#include "cli/stat/vendor_metrics/planned_metric.h"

namespace anyperf::cli::stat {

/// `not_counted`: the event was open but never ran, so its count is unknown and not 0. `not_supported`: it was refused.
enum class Status { counted, not_counted, not_supported };

/// The count of one event, over all places or in one place (a CPU or a thread).
struct Line {
    std::string where;   ///< "CPU0", "S0-D0-C1", "bash-3229"; empty: the sum of all places
    int cpus = 0;        ///< how many CPUs are added up in a core, die, socket or node; 0: `where` is none of these
    std::string cgroup;  ///< empty: any
    std::string name;    ///< as printed: with the modifier u added if only user mode could be counted
    events::Event event;
    std::optional<Error> refusal;  ///< why the event could not be opened
    bool user_only = false;        ///< kernel mode was requested, but could not be counted
    bool modelled = false;         ///< computed by the virtual PMU's models
    std::string machine;           ///< the machine whose caches and branch predictors the count comes from; empty: none
    std::size_t metric_set = 0;    ///< the set of events of -M that it is in; 0: an event of -e
    bool with_own_share = false;   ///< the count includes what anyperf does in the program's threads
    counting::Count count;         ///< of one run, or the mean of several
    std::vector<double> runs;      ///< value() of each run of -r

    Status status() const {
        if (refusal) return Status::not_supported;
        return count.counted() ? Status::counted : Status::not_counted;
    }
    /// The count in the event's unit, scaled up if the event was multiplexed.
    double value() const { return static_cast<double>(count.value) * event.scale; }
    /// Whether the value is a whole number: no scale is applied.
    bool whole() const { return event.scale == 1; }
};

/// One event in the run of --baseline and in this run.
struct Difference {
    std::string name;
    std::optional<double> before;
    std::optional<double> now;
    std::optional<double> limit;  ///< in %, from the gate that applies; none: no gate

    /// In % of `before`; infinite if it grew from 0; no value if one side is missing.
    std::optional<double> growth() const;
    bool above() const { return limit && growth() && *growth() > *limit; }
};

/// One measurement, one interval of it (-I), or the means of several measurements (-r).
struct Report {
    std::vector<std::string> command;
    std::string target;           ///< "'ls -l'", "process id '12'", "system wide"
    std::string mode = "kernel";  ///< what counted: "kernel" or "virtual"
    std::string mode_reason;      ///< why the virtual PMU counted, if the user did not ask for it; else empty
    std::string baseline_mode;    ///< `mode` in the file of --baseline; empty: the file does not say
    std::vector<Line> lines;
    std::shared_ptr<const PlannedMetrics> metrics;  ///< of -M; null: none
    std::optional<int> exit_status;                 ///< of the command; none without a command
    std::uint64_t wall_ns = 0;                      ///< elapsed time; with -r the mean, also of the next two
    std::uint64_t user_ns = 0;                      ///< CPU time of the command, from wait4(2)
    std::uint64_t system_ns = 0;
    std::vector<double> wall_runs;                ///< elapsed ns of each run of -r
    std::optional<std::uint64_t> interval_at_ns;  ///< with -I: ns since the start of the measurement
    std::vector<std::string> notes;               ///< warnings for people; the table has them at its end
    std::vector<Difference> differences;          ///< with --baseline
    std::optional<RunIdentity> identity;          ///< for --json and --baseline; no value: neither was given
    std::string verdict;                          ///< of the gate, one line; empty: there is no gate
    std::vector<std::string> obstacles;           ///< why counts are not comparable with those of --baseline
    int runs = 1;
    bool summary = false;  ///< the totals after intervals (--summary)
};

}  // namespace anyperf::cli::stat

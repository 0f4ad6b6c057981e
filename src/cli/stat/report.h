// report.h: what `stat` has measured, before it is written in some format.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "anyperf/count.h"
#include "anyperf/error.h"
#include "anyperf/event.h"

namespace anyperf::cli::stat {

enum class Status { counted, not_counted, not_supported };

/// One event, as a whole or in one place.
struct Line {
    std::string where;   ///< "CPU0", "bash-3229"; empty: all places together
    std::string cgroup;  ///< empty: any
    std::string name;    ///< as it is printed: with ":u" where only user mode could be counted
    events::Event event;
    std::optional<Error> refusal;
    bool user_only = false;
    bool modelled = false;
    counting::Count count;     ///< of one run, or the mean of several
    std::vector<double> runs;  ///< value() of each run of -r

    Status status() const {
        if (refusal) return Status::not_supported;
        return count.counted() ? Status::counted : Status::not_counted;
    }
    /// The (estimated) count in the event's unit.
    double value() const { return static_cast<double>(count.value) * event.scale; }
    /// True where the value is a whole number of events.
    bool whole() const { return event.scale == 1; }
};

/// An event in the run of --baseline and in this one.
struct Difference {
    std::string name;
    std::optional<double> before;
    std::optional<double> now;
    std::optional<double> limit;  ///< in %, of the gate that it has to pass

    /// In %; infinite from 0; nothing where one side is missing.
    std::optional<double> growth() const;
    bool above() const { return limit && growth() && *growth() > *limit; }
};

struct Report {
    std::vector<std::string> command;
    std::string target;  ///< "'ls -l'", "process id '12'", "system wide"
    std::string mode = "kernel";
    std::string mode_reason;    ///< why it is not the kernel, where nobody asked for that; empty else
    std::string baseline_mode;  ///< of --baseline's file; empty: it doesn't say
    std::vector<Line> lines;
    std::optional<int> exit_status;
    std::uint64_t wall_ns = 0;  ///< the mean, of several runs
    std::uint64_t user_ns = 0;
    std::uint64_t system_ns = 0;
    std::vector<double> wall_runs;                ///< ns of each run of -r
    std::optional<std::uint64_t> interval_at_ns;  ///< of -I: since the start
    std::vector<std::string> notes;               ///< for people, below the table
    std::vector<Difference> differences;          ///< with --baseline
    int runs = 1;
};

}  // namespace anyperf::cli::stat

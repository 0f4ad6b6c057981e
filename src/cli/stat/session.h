// session.h: one measurement: starts the command, opens the counters, waits, and reads the counters at the end and at
// intervals.
#pragma once

#include <functional>
#include <optional>

#include "anyperf/error.h"
#include "cli/command/command.h"
#include "cli/command/control_channel.h"
#include "cli/stat/options.h"
#include "cli/stat/output/report.h"
#include "cli/stat/plan.h"

namespace anyperf::cli::stat {

/// The result of one run of the command, or of observing other tasks once.
struct Measurement {
    Report report;                        ///< of the whole measurement
    std::optional<Report> last_interval;  ///< with -I: the time after the last interval that was reported
    ExitInfo exit_info;                   ///< of the command; {} without one
    int interrupted_by = 0;               ///< without a command: the signal that ended the counting; else 0
    int signal_during_run = 0;            ///< with a command: the last signal that asked to end it; 0: none did
};

/// Receives what is printed during a measurement, and has the channel with commands for it.
struct Listener {
    std::function<void(const Report&)> interval;            ///< the report of each interval (-I)
    std::function<void(const Report&)> run;                 ///< the report of each run of -r 0
    ControlChannel* control = nullptr;                      ///< where commands come from; null: from nowhere
    std::function<void(const std::string&)> events_listed;  ///< called for "evlist": a line for each event
    std::function<void(const std::string&)> unknown_event;  ///< a name to enable or disable that no event has
};

/// Measures once. Error: the command could not be started, or the counters could not be opened or read. A command that
/// already runs is then terminated.
Result<Measurement> measure_once(const Plan& plan, const Options& options, BlockedSignals& signals,
                                 const Listener& listener);

}  // namespace anyperf::cli::stat

// session.h: one measurement: starts the command, opens the counters, waits, and reads them at the end and at
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
    std::optional<Report> last_interval;  ///< with -I: since the last interval that was reported
    ExitInfo exit_info;                   ///< of the command; {} without one
    int interrupted_by = 0;               ///< without a command: the signal that ended the counting; else 0
    int signal_during_run = 0;            ///< with a command: the last signal that asked to end it; 0: none did
};

/// Receives what a measurement prints while it goes on, and has the commands that it obeys.
struct Listener {
    std::function<void(const Report&)> interval;            ///< the report of each interval (-I)
    std::function<void(const Report&)> run;                 ///< the report of each run of -r 0
    ControlChannel* control = nullptr;                      ///< commands come from here; null: none do
    std::function<void(const std::string&)> events_listed;  ///< the answer to "evlist": a line for each event
    std::function<void(const std::string&)> unknown_event;  ///< the name in an "enable" or "disable" is no event's
};

/// Measures once. Error: the command could not be started, the counters could not be opened or read; a command that was
/// already running is then terminated.
Result<Measurement> measure_once(const Plan& plan, const Options& options, BlockedSignals& signals,
                                 const Listener& listener);

}  // namespace anyperf::cli::stat

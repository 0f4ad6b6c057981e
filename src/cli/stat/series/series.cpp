// series.cpp: -r N: the command several times, with --pre and --post around each run.
//
// Counts of the runs are summed up in the report of the first run and divided at the end. The values of each run are
// kept as well, for the mean, deviation and comparison. A run that a signal ended is left out, because it did only a
// part of the work. With -r 0 each run is printed by itself and nothing is summed up.
#include "cli/stat/series/series.h"

#include <unistd.h>

#include <fmt/format.h>

#include "cli/stat/series/hook.h"
#include "try.h"

namespace anyperf::cli::stat {

namespace {

/// The signal that ended a run early: one that killed the command, or one that asked anyperf to end and that the
/// command survived. 0: the run finished.
int unfinished_by(const Measurement& run) {
    return run.exit_info.signal != 0 ? run.exit_info.signal : run.signal_during_run;
}

/// A series in progress.
class Series {
  public:
    Series(const Plan& plan, const Options& options, BlockedSignals& signals, const Listener& listener)
        : plan_(plan), options_(options), signals_(signals), listener_(listener) {}

    /// Runs the hooks, and between them the command once more. False if the series has ended.
    Result<bool> run_once();
    Result<Measurement> result() &&;

  private:
    void add(const Measurement& run, int ended_by);
    bool ended_in_hook(int signal);

    const Plan& plan_;
    const Options& options_;
    BlockedSignals& signals_;
    const Listener& listener_;
    std::optional<Measurement> all_;
    int runs_ = 0;         ///< runs of the command, also one that a signal ended
    int hook_signal_ = 0;  ///< the signal that ended the series in a hook; 0: none
};

Result<bool> Series::run_once() {
    if (!options_.pre_command.empty())
        if (ended_in_hook(TRY(run_hook(options_.pre_command, "--pre", signals_)))) return false;
    if (options_.sync) ::sync();
    Measurement run = TRY(measure_once(plan_, options_, signals_, listener_));
    ++runs_;
    if (run.last_interval) listener_.interval(*run.last_interval);
    const int ended_by = unfinished_by(run);
    add(run, ended_by);
    if (ended_by != 0) return false;
    if (!options_.post_command.empty() && run.exit_info.exit_status == 0)
        if (ended_in_hook(TRY(run_hook(options_.post_command, "--post", signals_)))) return false;
    return options_.repeats_forever() || runs_ < options_.repeat;
}

bool Series::ended_in_hook(int signal) {
    hook_signal_ = signal;
    return signal != 0;
}

/// Adds a run. If a signal ended the first one, it is reported nevertheless: there is nothing else. report.runs counts
/// the runs that are summed up; it is 0 when the first run is added.
void Series::add(const Measurement& run, int ended_by) {
    if (options_.repeats_forever()) {
        Report last = run.report;
        if (ended_by != 0) last.notes.push_back(fmt::format("signal {} ended this run, the last one", ended_by));
        listener_.run(last);
    }
    if (!all_ || options_.repeats_forever()) {
        all_ = run;
        all_->report.runs = 0;
    }
    all_->exit_info = run.exit_info;
    if (ended_by == 0 || all_->report.runs == 0) return add_run(all_->report, run.report);
    all_->report.exit_status = run.report.exit_status;
    all_->report.notes.push_back(fmt::format("signal {} ended run {}, which is left out", ended_by, runs_));
}

Result<Measurement> Series::result() && {
    if (!all_)
        return std::unexpected(Error{"nothing was measured", fmt::format("signal {} ended --pre", hook_signal_), ""});
    average(all_->report);
    return std::move(*all_);
}

}  // namespace

void add_run(Report& all, const Report& one) {
    for (std::size_t i = 0; i < one.lines.size() && i < all.lines.size(); ++i) {
        auto& line = all.lines[i];
        line.runs.push_back(one.lines[i].value());
        if (all.runs > 0) line.count = line.count + one.lines[i].count;
    }
    all.wall_runs.push_back(static_cast<double>(one.wall_ns));
    if (all.runs > 0) {
        all.wall_ns += one.wall_ns;
        all.user_ns += one.user_ns;
        all.system_ns += one.system_ns;
    }
    all.exit_status = one.exit_status;
    ++all.runs;
}

// Values are rounded to the nearest. The times are divided like the counts, so that running / enabled is the mean share
// of multiplexing.
void average(Report& all) {
    const auto runs = static_cast<std::uint64_t>(all.runs);
    for (auto& line : all.lines) {
        auto& count = line.count;
        count.raw /= runs;
        count.value = (count.value + runs / 2) / runs;
        count.enabled_ns /= runs;
        count.running_ns /= runs;
    }
    all.wall_ns /= runs;
    all.user_ns /= runs;
    all.system_ns /= runs;
}

Result<Measurement> measure_series(const Plan& plan, const Options& options, BlockedSignals& signals,
                                   const Listener& listener) {
    Series series{plan, options, signals, listener};
    while (TRY(series.run_once())) {
    }
    return std::move(series).result();
}

}  // namespace anyperf::cli::stat

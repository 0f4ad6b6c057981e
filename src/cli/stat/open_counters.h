// open_counters.h: the counters of a plan: opens, enables and reads them, and turns the difference of two readings into
// the lines of a report.
#pragma once

#include <vector>

#include "anyperf/counter_set.h"
#include "cli/stat/options.h"
#include "cli/stat/output/report.h"
#include "cli/stat/places/rows.h"
#include "cli/stat/plan.h"

namespace anyperf::cli::stat {

/// All counts of a plan at one moment: scope by scope, place by place, event by event.
using Snapshot = std::vector<counting::Count>;

/// Counters of one measurement. Plan and options must outlive it.
class OpenCounters {
  public:
    /// Opens every event of the plan. `child` is the command's pid if the plan targets the command, else 0. The
    /// command's events start at its exec, unless -D delays them. A refused event has no count, but a line with the
    /// refusal. Error: every event was refused for lack of permission, a target could not be opened at all, or a filter
    /// is wrong.
    static Result<OpenCounters> open(const Plan& plan, const Options& options, pid_t child);

    Result<void> enable();
    Result<void> disable();
    /// Enables or disables the events of this name, or all events if it is empty. False if no event has the name.
    Result<bool> switch_events(const std::string& name, bool on);
    /// The name of each event on a line of its own, for the answer to "evlist".
    std::string event_names() const;
    Result<Snapshot> read();

    /// The counts from `before` to `after`: one line for each event, or for each event and row of places (rows.h). An
    /// empty `before` means zero.
    std::vector<Line> lines(const Snapshot& before, const Snapshot& after) const;
    /// Warnings about the counts, for people; also those of the plan.
    std::vector<std::string> notes() const;

  private:
    OpenCounters(const Plan& plan, const Options& options) : plan_(&plan), options_(&options) {}

    std::vector<Line> scope_lines(std::size_t scope, std::span<const counting::Count> before,
                                  std::span<const counting::Count> after) const;
    std::vector<counting::Count> place_counts(std::size_t scope, std::size_t number,
                                              std::span<const counting::Count> before,
                                              std::span<const counting::Count> after) const;
    std::optional<Error> refusal(std::size_t scope, std::size_t number, const events::Event& event) const;
    bool is_counted_by_kernel(const events::Event& event) const;
    bool cpu_event_refused() const;
    Line line_of(std::size_t scope, std::size_t number, const events::Event& event) const;

    const Plan* plan_;
    const Options* options_;
    std::vector<counting::CounterSet> sets_;  ///< one for each scope of the plan
    std::vector<std::vector<Row>> rows_;      ///< of each set
};

}  // namespace anyperf::cli::stat

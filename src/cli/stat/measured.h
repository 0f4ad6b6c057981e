// measured.h: the counters of a plan while they are open: read, and turned into lines.
#pragma once

#include <vector>

#include "anyperf/counter_set.h"
#include "cli/stat/options.h"
#include "cli/stat/plan.h"
#include "cli/stat/report.h"

namespace anyperf::cli::stat {

/// All counts of a plan at one moment: scope by scope, place by place, event by event.
using Snapshot = std::vector<counting::Count>;

class Measured {
  public:
    /// Opens everything. `child` is the command where the plan is about it, else 0. Events that the kernel refuses are
    /// kept as such; Error: nothing may be counted for want of permission, or opening failed as a whole.
    static Result<Measured> open(const Plan& plan, const Options& options, pid_t child);

    Result<void> enable();
    Result<void> disable();
    Result<Snapshot> read();

    /// One line an event, or one an event and place, of what was counted from `before` to `after`.
    std::vector<Line> lines(const Snapshot& before, const Snapshot& after) const;
    /// What people must know about these lines.
    std::vector<std::string> notes() const;

  private:
    Measured(const Plan& plan, const Options& options) : plan_(&plan), options_(&options) {}

    std::vector<Line> scope_lines(std::size_t scope, std::span<const counting::Count> before,
                                  std::span<const counting::Count> after) const;
    std::optional<Error> refusal(std::size_t scope, std::size_t number, const events::Event& event) const;
    bool cpu_event_refused() const;
    std::string label(const counting::Place& place) const;

    const Plan* plan_;
    const Options* options_;
    std::vector<counting::CounterSet> sets_;
};

}  // namespace anyperf::cli::stat

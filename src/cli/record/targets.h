// targets.h: what a recording opens: which events, on which threads and CPUs, and with rings of which size. Private to
// `record`.
#pragma once

#include <sys/types.h>
#include <cstddef>

#include <vector>

#include "anyperf/error.h"
#include "cli/record/options.h"
#include "cli/record/plan.h"
#include "counting/open_event.h"
#include "recording/open_set.h"

namespace anyperf::cli::record {

/// Must outlive the events that were opened by its request: it has the descriptor of their cgroup, and explains
/// refusals. The parameters must outlive it.
class Targets {
  public:
    Targets(const Plan& plan, const Options& options, counting::Kernel& kernel)
        : plan_(plan), options_(options), kernel_(kernel) {}
    ~Targets();
    Targets(const Targets&) = delete;
    Targets& operator=(const Targets&) = delete;

    /// `command`: the process of the command, if there is one. Error: a process, or the cgroup, does not exist.
    Result<recording::OpenRequest> request(pid_t command);

  private:
    Result<std::vector<counting::Place>> places(pid_t command);
    Result<std::vector<pid_t>> tasks(pid_t command);
    std::vector<int> cpus() const;
    std::size_t default_ring(const std::vector<counting::Place>& places) const;
    Error explain(const events::Event& event, const counting::Place& place, int errno_value) const;

    const Plan& plan_;
    const Options& options_;
    counting::Kernel& kernel_;
    int cgroup_fd_ = -1;
};

}  // namespace anyperf::cli::record

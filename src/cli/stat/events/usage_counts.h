// usage_counts.h: context switches of a command, when the kernel refuses to count them as an event. They happen in
// kernel mode, which the user may not be allowed to count. The kernel also keeps their number in the resource usage of
// each process (getrusage(2)), and the process that waits for another gets it (wait4(2)). There is no such number for
// migrations.
#pragma once

#include <sys/resource.h>

#include <cstdint>

#include "cli/stat/options.h"
#include "cli/stat/output/report.h"
#include "cli/stat/plan.h"

namespace anyperf::cli::stat {

/// Whether the command's resource usage contains the count of the event. It does if the event is context-switches in
/// all modes, and is counted for the command and all its children, from start to end, as one number for all CPUs.
bool is_in_usage(const events::Event& event, const Plan& plan, const Options& options);

/// The number of context switches of the process until now; 0 if /proc does not report it.
std::uint64_t context_switches_until_now(pid_t process);

/// Gives each refused line for which is_in_usage() holds its count from `usage`, and adds a note to the report for
/// each. `usage` is what wait4(2) returned for the command. `before` is the number of switches of the process before
/// its exec.
void fill_from_usage(Report& report, const Plan& plan, const Options& options, const rusage& usage,
                     std::uint64_t before);

}  // namespace anyperf::cli::stat

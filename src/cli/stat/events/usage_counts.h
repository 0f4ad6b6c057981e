// usage_counts.h: context switches of a command that the kernel refuses to count as an event, because they happen in
// kernel mode and the user may not count there. The kernel also keeps their number in the resource usage of each
// process (getrusage(2)), which it gives to whoever waits for the process. Migrations have no such number.
#pragma once

#include <sys/resource.h>

#include <cstdint>

#include "cli/stat/options.h"
#include "cli/stat/output/report.h"
#include "cli/stat/plan.h"

namespace anyperf::cli::stat {

/// Whether the usage of the command has the whole count of the event: it is for the command and its children, from
/// start to end, without parts of the time or of the machine.
bool is_in_usage(const events::Event& event, const Plan& plan, const Options& options);

/// Context switches of the process until now; 0 if /proc does not say.
std::uint64_t context_switches_until_now(pid_t process);

/// Fills in the lines that are refused and is_in_usage(), and adds a note that says so. `before`: the switches of the
/// process before it became the command. To be called with the usage of wait4(2).
void fill_from_usage(Report& report, const Plan& plan, const Options& options, const rusage& usage,
                     std::uint64_t before);

}  // namespace anyperf::cli::stat

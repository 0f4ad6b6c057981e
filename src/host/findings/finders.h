// finders.h: the finders that findings.cpp lists, by the file that has them. Private to host.
#pragma once

#include <optional>

#include "host/facts.h"
#include "host/finding.h"

namespace anyperf::host::findings_of {

/// Empty where there is nothing to say on this machine.
using Found = std::optional<Finding>;

// kernel.cpp
Found kernel(const Facts& facts);
Found kernel_options(const Facts& facts);

// rights.cpp
Found paranoid(const Facts& facts);
Found capabilities(const Facts& facts);
Found other_processes(const Facts& facts);
Found kernel_addresses(const Facts& facts);

// confinement.cpp
Found seccomp(const Facts& facts);
Found container(const Facts& facts);
Found user_namespace(const Facts& facts);
Found lockdown(const Facts& facts);
Found security_modules(const Facts& facts);

// pmu.cpp
Found hypervisor(const Facts& facts);
Found hardware_pmu(const Facts& facts);
Found counters(const Facts& facts);
Found user_space_reads(const Facts& facts);
Found other_pmus(const Facts& facts);
Found holders(const Facts& facts);

// limits.cpp
Found locked_memory(const Facts& facts);
Found open_files(const Facts& facts);
Found sample_rate(const Facts& facts);
Found stack_depth(const Facts& facts);

// tracing.cpp
Found tracefs(const Facts& facts);
Found breakpoints(const Facts& facts);
Found probes(const Facts& facts);

}  // namespace anyperf::host::findings_of

// pmus.h: which PMUs this machine has, as far as a failed open needs to know.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/root.h"

namespace anyperf::host::causes {

/// The directory in /sys/bus/event_source/devices whose `type` this is; empty where there is none.
std::string pmu_of_type(const Root& root, std::uint32_t type);

/// Core PMUs: `cpu`, or those with a `cpus` file (hybrid x86, ARM). Empty on a machine without hardware counters.
std::vector<std::string> core_pmus(const Root& root);

/// "breakpoint, msr, software", for a message.
std::string pmus_listed(const Root& root);

}  // namespace anyperf::host::causes

// pmu_names.h: which PMUs the machine has, by type and by name. A short form of host/hardware/pmu.h for messages and
// checks; each call reads sysfs anew.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "host/root.h"

namespace anyperf::host::causes {

/// The name of the PMU (a directory in /sys/bus/event_source/devices) whose file `type` has this number. Empty if there
/// is none.
std::string pmu_of_type(const Root& root, std::uint32_t type);

/// Names of the core PMUs: `cpu`, or those with a file `cpus` (hybrid x86, ARM). Empty on a machine without hardware
/// counters, such as most virtual machines.
std::vector<std::string> core_pmus(const Root& root);

/// All names for a message: "breakpoint, msr, software"; "none" if there are none.
std::string pmus_listed(const Root& root);

}  // namespace anyperf::host::causes

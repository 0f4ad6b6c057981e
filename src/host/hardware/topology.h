// topology.h: where in the machine a CPU is: its socket, die, core and NUMA node, as sysfs numbers them
// (Documentation/admin-guide/cputopology.rst of Linux).
#pragma once

#include <optional>

#include "host/root.h"

namespace anyperf::host {

/// A number is absent if sysfs does not have it. Core numbers are unique within a die, die numbers within a socket.
struct CpuPosition {
    std::optional<int> socket;
    std::optional<int> die;  ///< 0 on kernels before 5.2, which know no dies
    std::optional<int> core;
    std::optional<int> node;  ///< absent on a kernel without NUMA
};

/// The position of a CPU that is online. An offline CPU has no socket, die or core.
CpuPosition position_of(const Root& root, int cpu);

}  // namespace anyperf::host

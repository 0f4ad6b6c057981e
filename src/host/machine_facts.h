// machine_facts.h: facts about the machine that several findings need, read once. Private to host.
#pragma once

#include <string>
#include <vector>

#include "host/hardware/hypervisor.h"
#include "host/kernel/kernel_probe.h"
#include "host/process/container.h"
#include "host/process/privileges.h"
#include "host/root.h"

namespace anyperf::host {

/// Valid while `root` and `kernel` live.
struct Facts {
    const Root& root;
    const Kernel& kernel;
    Privileges privileges;
    Container container;
    Hypervisor hypervisor;
    std::vector<std::string> core_pmus;  ///< empty: no hardware counters

    /// Whether the machine can be asked and not only read: system calls, CPUID, the kernel log.
    bool is_live() const { return root.is_this_machine(); }
};

/// Reads everything but `root` and `kernel`, which it refers to.
Facts read_facts(const Root& root, const Kernel& kernel);

}  // namespace anyperf::host

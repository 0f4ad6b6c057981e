// machine_facts.h: facts about the machine that several findings need. They are read once. Private to host.
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

    /// Whether `root` is the machine that anyperf runs on, so that system calls, CPUID and the kernel log describe it.
    bool is_live() const { return root.is_this_machine(); }
};

/// Reads the facts. The result refers to `root` and `kernel`.
Facts read_facts(const Root& root, const Kernel& kernel);

}  // namespace anyperf::host

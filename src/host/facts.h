// facts.h: what findings start from, read once. Private to host.
#pragma once

#include <string>
#include <vector>

#include "host/container.h"
#include "host/hypervisor.h"
#include "host/kernel.h"
#include "host/privileges.h"
#include "host/root.h"

namespace anyperf::host {

struct Facts {
    const Root& root;
    const Kernel& kernel;
    Privileges privileges;
    Container container;
    Hypervisor hypervisor;
    std::vector<std::string> core_pmus;  ///< empty: no hardware counters

    bool live() const { return root.is_this_machine(); }
};

Facts read_facts(const Root& root, const Kernel& kernel);

}  // namespace anyperf::host

// event_holders.h: processes that have performance events open. What they hold, others can't have.
#pragma once

#include <string>
#include <vector>

#include "host/root.h"

namespace anyperf::host {

struct EventHolder {
    int pid = 0;
    std::string name;
    int events = 0;  ///< descriptors that are performance events
};

/// Every process whose descriptors may be looked at (one's own; with CAP_SYS_PTRACE everybody's), but not this one.
std::vector<EventHolder> event_holders(const Root& root);

/// "perf (pid 1234, 8 events), …"; empty where there are none.
std::string describe(const std::vector<EventHolder>& holders);

}  // namespace anyperf::host

// event_holders.h: which processes have performance events open. They share the counters and can exclude others from
// them, so they are a possible cause of EBUSY, ENOSPC and multiplexing.
#pragma once

#include <string>
#include <vector>

#include "host/root.h"

namespace anyperf::host {

/// A process that has events open.
struct EventHolder {
    int pid = 0;
    std::string name;  ///< its command name; "?" if it can't be read
    int events = 0;    ///< its descriptors that are performance events
};

/// All such processes except this one. A process is found only if its descriptors are visible: those of the same user's
/// processes are, and with CAP_SYS_PTRACE those of all.
std::vector<EventHolder> event_holders(const Root& root);

/// "perf (pid 1234, 8 events), …"; empty if there are none.
std::string describe(const std::vector<EventHolder>& holders);

}  // namespace anyperf::host

// gain_rights.h: advice to a user whose process lacks a right to measure.
#pragma once

#include <string>

#include "host/process/container.h"
#include "host/process/privileges.h"

namespace anyperf::host {

/// How the process can get the right. `level` is the perf_event_paranoid at which every process has it; pass 2 if only
/// CAP_PERFMON gives it. The advice fits the situation: in a container or a user namespace the setting must be changed
/// on the host. The text continues a sentence after "or" or a colon, and has no period.
std::string how_to_gain_rights(const Privileges& privileges, const Container& container, int level);

}  // namespace anyperf::host

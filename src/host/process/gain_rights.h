// gain_rights.h: the advice by which a process gets a right to measure that it lacks.
#pragma once

#include <string>

#include "host/process/container.h"
#include "host/process/privileges.h"

namespace anyperf::host {

/// `level` is the perf_event_paranoid at which every process has the right; pass 2 if only CAP_PERFMON gives it. The
/// advice fits the situation: in a container or a user namespace the setting must be changed on the host. The text
/// continues a sentence after "or" or a colon, and has no period.
std::string how_to_gain_rights(const Privileges& privileges, const Container& container, int level);

}  // namespace anyperf::host

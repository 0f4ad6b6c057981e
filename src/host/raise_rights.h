// raise_rights.h: how a process gets a right to measure that it lacks.
#pragma once

#include <string>

#include "host/container.h"
#include "host/privileges.h"

namespace anyperf::host {

/// `level`: the perf_event_paranoid that would give the right to everybody; 2 where no level does, only CAP_PERFMON.
/// Words to put behind "or" or a colon, without a full stop.
std::string how_to_raise(const Privileges& privileges, const Container& container, int level);

}  // namespace anyperf::host

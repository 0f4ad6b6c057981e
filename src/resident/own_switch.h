// own_switch.h: a thread switches its own events, and sets them to 0, without asking the broker
// (subsystem/shared/own_switch.h).
#pragma once

#include "resident/process.h"

namespace anyperf::resident {

using engine::Thread;

/// PERF_EVENT_IOC_ENABLE, DISABLE and RESET with this argument. False: it is none of them, or the broker has to do it.
bool control_own(Thread& thread, EventIndex event, std::uint32_t request, std::uint64_t argument);

}  // namespace anyperf::resident

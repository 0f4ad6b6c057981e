// local_toggle.h: local toggles: a thread enables, disables and resets events that count the thread itself by changing
// their pages, without a request to the broker. subsystem/shared/local_toggle.h has the conditions and the rules.
#pragma once

#include "agent/process.h"

namespace anyperf::agent {

using engine::Thread;

/// PERF_EVENT_IOC_ENABLE, DISABLE and RESET, with the ioctl's `argument` (PERF_IOC_FLAG_GROUP). False, with nothing
/// changed: it is another request, or only the broker can do it.
bool try_local_toggle(Thread& thread, EventIndex event, std::uint32_t request, std::uint64_t argument);

}  // namespace anyperf::agent

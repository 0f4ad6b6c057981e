// event_call.h: the perf_event_open(2) call by which a verb finds out whether an event can be opened.
#pragma once

#include "anyperf/event.h"
#include "host/kernel/kernel_probe.h"

namespace anyperf::cli {

/// The call that `stat -e EVENT` would make for this process, or for the first CPU of a PMU that cannot count tasks.
/// The event is disabled. The call may point into `event` (attr_to_open()), so it is valid while `event` is.
host::OpenCall call_of(const events::Event& event);

}  // namespace anyperf::cli

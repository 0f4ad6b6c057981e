// open_failure.h: explains why perf_event_open(2) failed. Each errno has an ordered list of possible causes, and a
// cause is named only after it was checked on this machine. If none of them is found, the Error says what was checked.
#pragma once

#include <string_view>

#include "anyperf/error.h"
#include "host/kernel/kernel_probe.h"
#include "host/root.h"

namespace anyperf::host {

/// Explains an open that failed with `errno_value` (positive). `event` is the name as the user wrote it ("cycles"), or
/// empty. The call may be tried again with changes; such events are disabled and closed at once.
/// Call it in the thread whose open failed, before the process's credentials, limits or descriptors change.
/// Facts are read below `root`; calls are tried only if that is this machine. It costs up to hundreds of system calls.
Error why_open_failed(const OpenCall& call, int errno_value, std::string_view event, const Root& root = Root{},
                      const Kernel& kernel = this_kernel());

}  // namespace anyperf::host

// open_failure.h: why perf_event_open(2) refused. Each errno has an ordered list of causes, and each cause is checked
// against the machine before it is named; where none holds, the Error says what was looked at.
#pragma once

#include <string_view>

#include "anyperf/error.h"
#include "host/kernel.h"
#include "host/root.h"

namespace anyperf::host {

/// What to tell the user about an open that failed with `errno_value`. `event` as the user wrote it ("cycles"); empty
/// where there is no name. May try the call again with parts of it left out: those events are disabled, and closed.
/// Call it in the process and thread that failed, before anything of it changes (credentials, limits, descriptors).
/// Facts are read below `root`; the call is only repeated where that is the machine we run on.
Error why_open_failed(const OpenCall& call, int errno_value, std::string_view event, const Root& root = Root{},
                      const Kernel& kernel = this_kernel());

}  // namespace anyperf::host

// parts.h: the parts of a call that can be left out, so that the call without one tells whether that one was refused.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/kernel.h"

namespace anyperf::host::causes {

struct Part {
    std::string name;  ///< "sample_type PERF_SAMPLE_RAW", "attr.precise_ip (3)"
    std::string hint;  ///< what else is known of it; may be empty
    std::function<void(OpenCall&)> leave_out;
};

/// Those that are set in `call`. type, config, pid, cpu and group_fd are what the event is, so no parts; nor are
/// config1 and config2 where they name a breakpoint's or a probe's place.
std::vector<Part> parts_of(const OpenCall& call, bool config1_is_place);

}  // namespace anyperf::host::causes

// parts.h: an open call as a list of optional parts (sample_type bits, flags, fields), each of which can be left out.
// The kernel reports EINVAL without a reason; the same call without one part shows whether that part was the reason.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/kernel/kernel_probe.h"

namespace anyperf::host::causes {

/// One optional part of a call.
struct Part {
    std::string name;  ///< "sample_type PERF_SAMPLE_RAW", "attr precise_ip", "attr.clockid (0x1)"
    std::string hint;  ///< why this part may be refused, for the message; may be empty
    std::function<void(OpenCall&)> leave_out;  ///< removes the part from a call, with whatever depends on it
};

/// The parts that `call` sets. type, config, pid, cpu and group_fd identify the event and are not parts. Neither are
/// config1 and config2 if `config1_is_location`: then they are the address and length of a breakpoint, or the file or
/// function of a probe and the offset in it.
std::vector<Part> parts_of(const OpenCall& call, bool config1_is_location);

}  // namespace anyperf::host::causes

// kernel_log.h: what the kernel reported about its PMU at boot ("Performance Events: …"), which often names the reason
// why there is none.
#pragma once

#include <string>
#include <string_view>

#include "host/root.h"

namespace anyperf::host {

/// The part from `text` to the end of the first line of the kernel log that contains it. Empty if no line does, if the
/// log has wrapped since boot, or if this process may not read it (kernel.dmesg_restrict). On another machine the file
/// /var/log/dmesg is read instead.
std::string kernel_log_line(const Root& root, std::string_view text);

}  // namespace anyperf::host

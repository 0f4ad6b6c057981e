// kernel_log.h: what the kernel said about its PMU when it booted.
#pragma once

#include <string>
#include <string_view>

#include "host/root.h"

namespace anyperf::host {

/// The first line of the kernel log that has `text`, without its time. Empty where there is none, or the log is closed
/// to this process (kernel.dmesg_restrict). Of another machine: /var/log/dmesg.
std::string kernel_log_line(const Root& root, std::string_view text);

}  // namespace anyperf::host

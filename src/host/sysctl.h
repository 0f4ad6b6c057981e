// sysctl.h: kernel settings as numbers.
#pragma once

#include <optional>
#include <string_view>

#include "host/root.h"

namespace anyperf::host {

/// The first number of a file, decimal and signed; empty where the file can't be read or starts with something else.
std::optional<long long> number_in(const Root& root, std::string_view absolute);

/// /proc/sys/kernel/NAME: "perf_event_paranoid", "perf_event_max_sample_rate", "nmi_watchdog" …
std::optional<long long> kernel_setting(const Root& root, std::string_view name);

}  // namespace anyperf::host

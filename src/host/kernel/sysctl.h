// sysctl.h: reads kernel settings and other files that hold one number.
#pragma once

#include <optional>
#include <string_view>

#include "host/root.h"

namespace anyperf::host {

/// The number that a file begins with, decimal and signed. Empty if the file can't be read or begins with something
/// else.
std::optional<long long> number_in(const Root& root, std::string_view absolute);

/// /proc/sys/kernel/NAME: "perf_event_paranoid", "perf_event_max_sample_rate", "nmi_watchdog" …
std::optional<long long> kernel_setting(const Root& root, std::string_view name);

/// Whether the kernel is locked down for confidentiality. It then refuses kprobes, tracefs, and samples with the
/// registers at the interrupt (PERF_SAMPLE_REGS_INTR).
bool locked_down(const Root& root);

}  // namespace anyperf::host

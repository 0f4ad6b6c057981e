// cpus.h: which CPUs there are, and the list syntax of the kernel ("0-3,7"; bitmap.c, bitmap_parselist).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"
#include "host/root.h"

namespace anyperf::host {

/// CPU numbers that a list may name: 0..kMostCpus-1. More than any kernel is built for (NR_CPUS is 8192 at most), so
/// that a list from a stranger can't ask for gigabytes.
inline constexpr int kMostCpus = 65536;

/// "0-3,7" as {0,1,2,3,7}: sorted, each once. Empty text is no CPU. The Error's cause names the piece that is wrong.
Result<std::vector<int>> parse_cpu_list(std::string_view text);

/// The other way: {0,1,2,3,7} as "0-3,7". `cpus` must be sorted.
std::string to_cpu_list(std::span<const int> cpus);

/// CPUs that are running (/sys/devices/system/cpu/online).
Result<std::vector<int>> online_cpus(const Root& root);

/// CPUs that may ever be there (/sys/devices/system/cpu/possible).
Result<std::vector<int>> possible_cpus(const Root& root);

}  // namespace anyperf::host

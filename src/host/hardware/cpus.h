// cpus.h: which CPUs the machine has, and the list syntax of the kernel ("0-3,7", read by bitmap_parselist()).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "anyperf/error.h"
#include "host/root.h"

namespace anyperf::host {

/// CPU numbers in a list must be below this. It is more than any kernel supports (NR_CPUS is at most 8192), and limits
/// the memory that an untrusted list can request.
inline constexpr int kMaxCpus = 65536;

/// "0-3,7" as {0,1,2,3,7}: sorted, each once. Empty text gives an empty list.
/// Error: the cause names the piece that is not valid.
Result<std::vector<int>> parse_cpu_list(std::string_view text);

/// {0,1,2,3,7} as "0-3,7". `cpus` must be sorted and without duplicates.
std::string to_cpu_list(std::span<const int> cpus);

/// The CPUs that are online (/sys/devices/system/cpu/online).
Result<std::vector<int>> online_cpus(const Root& root);

/// The CPUs that the machine has, online or not (/sys/devices/system/cpu/present). On a VM more CPUs may be possible,
/// which can be plugged in later.
Result<std::vector<int>> present_cpus(const Root& root);

}  // namespace anyperf::host

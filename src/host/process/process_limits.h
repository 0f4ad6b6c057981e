// process_limits.h: resource limits of this process, from /proc/self/limits, so that they can also be read from a copy
// of another machine's files. getrlimit(2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/root.h"

namespace anyperf::host {

/// RLIM_INFINITY.
inline constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

/// In the unit of the limit: bytes, descriptors.
struct ProcessLimit {
    std::uint64_t soft = kUnlimited;
    std::uint64_t hard = kUnlimited;
};

/// `name` is the row of the file: "Max open files", "Max locked memory". Empty if it can't be read or has no such row.
std::optional<ProcessLimit> process_limit(const Root& root, std::string_view name);

}  // namespace anyperf::host

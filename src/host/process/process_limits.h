// process_limits.h: reads the resource limits (getrlimit(2)) of this process from /proc/self/limits, because a copy of
// another machine's files has that file, too.
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

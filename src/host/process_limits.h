// process_limits.h: resource limits of this process (/proc/self/limits, getrlimit(2)).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "host/root.h"

namespace anyperf::host {

inline constexpr std::uint64_t kUnlimited = ~std::uint64_t{0};

struct ProcessLimit {
    std::uint64_t soft = kUnlimited;
    std::uint64_t hard = kUnlimited;
};

/// `name` as the file has it: "Max open files", "Max locked memory". Empty where it can't be read.
std::optional<ProcessLimit> process_limit(const Root& root, std::string_view name);

}  // namespace anyperf::host

// kept_limits.h: the limits on memory that the engine enforces instead of the kernel. The engine reserves gigabytes of
// address space, and the kernel would count them against the program's limit. engine/syscalls/memory/limits.cpp
// enforces them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::run {

/// A soft and a hard limit as in getrlimit(2), in bytes.
struct ResourceLimit {
    std::uint64_t soft;
    std::uint64_t hard;
};

enum class KeptLimit : std::uint32_t { address_space, data };  ///< RLIMIT_AS, RLIMIT_DATA
inline constexpr std::size_t kKeptLimits = 2;

/// The limits of one process, by KeptLimit. All zeros: the kernel enforces all limits.
struct KeptLimits {
    std::uint64_t kept;  ///< a bit for each limit that is kept here; the kernel enforces the others
    ResourceLimit limit[kKeptLimits];

    bool has(KeptLimit which) const { return (kept >> static_cast<unsigned>(which) & 1) != 0; }
    /// The limit; RLIM_INFINITY if it is not kept here.
    ResourceLimit get(KeptLimit which) const {
        constexpr std::uint64_t kInfinity = ~std::uint64_t{0};  // RLIM_INFINITY
        return has(which) ? limit[static_cast<std::size_t>(which)] : ResourceLimit{kInfinity, kInfinity};
    }
    void set(KeptLimit which, const ResourceLimit& value) {
        limit[static_cast<std::size_t>(which)] = value;
        kept |= std::uint64_t{1} << static_cast<unsigned>(which);
    }
};

}  // namespace anyperf::run

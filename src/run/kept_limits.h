// kept_limits.h: limits on memory that the engine keeps instead of the kernel. The kernel would count the engine's own
// memory against them, of which it reserves gigabytes. engine/syscalls/limits.cpp has the rest.
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

/// The limits of one process, by KeptLimit. Zeros: none is kept.
struct KeptLimits {
    std::uint64_t kept;  ///< a bit for each limit that is kept here; the others are the kernel's
    ResourceLimit limit[kKeptLimits];

    bool has(KeptLimit which) const { return (kept >> static_cast<unsigned>(which) & 1) != 0; }
    /// The limit; none if it is not kept here.
    ResourceLimit get(KeptLimit which) const {
        constexpr std::uint64_t kNone = ~std::uint64_t{0};  // RLIM_INFINITY
        return has(which) ? limit[static_cast<std::size_t>(which)] : ResourceLimit{kNone, kNone};
    }
    void set(KeptLimit which, const ResourceLimit& value) {
        limit[static_cast<std::size_t>(which)] = value;
        kept |= std::uint64_t{1} << static_cast<unsigned>(which);
    }
};

}  // namespace anyperf::run

// count.cpp: the scaling of multiplexed counts, as perf_event_open(2) describes it at PERF_FORMAT_TOTAL_TIME_ENABLED:
// "count * enabled / running".
#include "anyperf/count.h"

#include <limits>

namespace anyperf::counting {

namespace {

__extension__ using Wide = unsigned __int128;

/// raw × enabled / running, computed in 128 bits. A result beyond 64 bits becomes 2^64-1.
std::uint64_t estimate(std::uint64_t raw, std::uint64_t enabled, std::uint64_t running) {
    const Wide value = static_cast<Wide>(raw) * enabled / running;
    constexpr Wide kMost = std::numeric_limits<std::uint64_t>::max();
    return static_cast<std::uint64_t>(value < kMost ? value : kMost);
}

}  // namespace

Count make_count(std::uint64_t raw, std::uint64_t enabled_ns, std::uint64_t running_ns, std::uint64_t lost) {
    const bool scaled = running_ns < enabled_ns;
    const bool estimable = scaled && running_ns != 0;
    return {.raw = raw,
            .value = estimable ? estimate(raw, enabled_ns, running_ns) : raw,
            .enabled_ns = enabled_ns,
            .running_ns = running_ns,
            .lost = lost,
            .scaled = scaled};
}

Count operator+(const Count& a, const Count& b) {
    return {.raw = a.raw + b.raw,
            .value = a.value + b.value,
            .enabled_ns = a.enabled_ns + b.enabled_ns,
            .running_ns = a.running_ns + b.running_ns,
            .lost = a.lost + b.lost,
            .scaled = a.scaled || b.scaled};
}

Count since(const Count& earlier, const Count& later) {
    return make_count(later.raw - earlier.raw, later.enabled_ns - earlier.enabled_ns,
                      later.running_ns - earlier.running_ns, later.lost - earlier.lost);
}

}  // namespace anyperf::counting

// count.h: what a counter says when it is read.
#pragma once

#include <cstdint>

namespace anyperf::counting {

/// One reading. Where the event had to share hardware counters (multiplexing) `value` is an estimate and `scaled` says
/// so; `raw` is what was counted.
struct Count {
    std::uint64_t raw = 0;         ///< events while the counter ran
    std::uint64_t value = 0;       ///< raw × enabled / running, rounded down; raw where not scaled
    std::uint64_t enabled_ns = 0;  ///< how long it was to count
    std::uint64_t running_ns = 0;  ///< how long it did
    std::uint64_t lost = 0;        ///< samples lost (Linux 6.0); 0 for events that only count
    bool scaled = false;           ///< value is an estimate: running_ns < enabled_ns

    /// False where the event never ran, so that raw 0 means nothing.
    bool counted() const { return running_ns != 0; }

    bool operator==(const Count&) const = default;
};

/// A reading from the kernel's three numbers. Never overflows: saturates at 2^64-1.
Count make_count(std::uint64_t raw, std::uint64_t enabled_ns, std::uint64_t running_ns, std::uint64_t lost = 0);

/// The sum over places (threads, CPUs): each estimate is made where it was measured.
Count operator+(const Count& a, const Count& b);

/// What happened from `earlier` to `later` of the same counter: an interval's count, scaled by the interval's own
/// times.
Count since(const Count& earlier, const Count& later);

}  // namespace anyperf::counting

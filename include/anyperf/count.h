// count.h: what a counter reports when it is read, and the arithmetic of such readings.
//
// If more events are open than the hardware has counters, the kernel multiplexes: each event counts only part of the
// time, and its full count is estimated as count × time enabled / time running.
#pragma once

#include <cstdint>

namespace anyperf::counting {

/// One reading of one event. Use `value`; `scaled` says whether it is an estimate.
struct Count {
    std::uint64_t raw = 0;         ///< occurrences counted while the event was on a counter
    std::uint64_t value = 0;       ///< raw × enabled_ns / running_ns, rounded down; raw if running_ns is 0
    std::uint64_t enabled_ns = 0;  ///< how long the event was enabled
    std::uint64_t running_ns = 0;  ///< how long it was on a counter; at most enabled_ns
    std::uint64_t lost = 0;        ///< samples lost (since Linux 6.0); 0 for events that only count
    bool scaled = false;           ///< running_ns < enabled_ns: value is an estimate, unless running_ns is 0

    /// False if the event was never on a counter: its 0 is no measurement. A raw count shows that it was on one even if
    /// running_ns is 0: in a short interval a coarse clock may not have advanced.
    bool counted() const { return running_ns != 0 || raw != 0; }

    bool operator==(const Count&) const = default;
};

/// A reading from the numbers that the kernel reports. The estimate saturates at 2^64-1.
Count make_count(std::uint64_t raw, std::uint64_t enabled_ns, std::uint64_t running_ns, std::uint64_t lost = 0);

/// The sum of two readings of the same event in different places (threads, CPUs). It adds the estimates and wraps at
/// 2^64; a place that was never counted adds 0.
Count operator+(const Count& a, const Count& b);

/// What one counter counted between two readings, scaled by the times of that interval alone. The counter must not have
/// been reset in between.
Count since(const Count& earlier, const Count& later);

}  // namespace anyperf::counting

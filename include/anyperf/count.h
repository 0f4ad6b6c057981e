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
    std::uint64_t value = 0;       ///< raw × enabled_ns / running_ns, rounded down, if scaled and counted(); else raw
    std::uint64_t enabled_ns = 0;  ///< how long the event was enabled
    std::uint64_t running_ns = 0;  ///< how long it was on a counter; at most enabled_ns
    std::uint64_t lost = 0;        ///< samples lost (since Linux 6.0); 0 for events that only count
    bool scaled = false;           ///< running_ns < enabled_ns: value is an estimate, or 0 if it never was on a counter

    /// False if the event was never on a counter: its 0 is no measurement. (raw is looked at too, because in a short
    /// interval a clock that is coarser than the counter may show no time on it.)
    bool counted() const { return running_ns != 0 || raw != 0; }

    bool operator==(const Count&) const = default;
};

/// A reading from the numbers that the kernel reports. The estimate saturates at 2^64-1.
Count make_count(std::uint64_t raw, std::uint64_t enabled_ns, std::uint64_t running_ns, std::uint64_t lost = 0);

/// The sum of two readings of the same event in different places (threads, CPUs). It adds the estimates and wraps at
/// 2^64; a place that was never counted adds 0.
Count operator+(const Count& a, const Count& b);

/// The interval between two readings of a counter without a reset, scaled by the times of that interval alone.
Count since(const Count& earlier, const Count& later);

}  // namespace anyperf::counting

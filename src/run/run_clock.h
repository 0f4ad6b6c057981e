// run_clock.h: how the times of a deterministic run follow from its clock, which is in the run memory (RunUse::clock).
// The engine advances the clock (engine/time/virtual_clock.h). The broker reads it for the times of records.
#pragma once

#include <time.h>

#include <cstdint>

namespace anyperf::run {

/// The clock's unit is a quarter of a nanosecond.
inline constexpr std::uint64_t kUnitsOfNanosecond = 4;
inline constexpr std::uint64_t kUnitsOfInstruction = 1;
/// CLOCK_MONOTONIC when the run begins: how long the machine has been up.
inline constexpr std::uint64_t kUptimeNs = 3600ull * 1'000'000'000;

/// CLOCK_MONOTONIC in ns when the clock is at `units`.
constexpr std::uint64_t monotonic_ns(std::uint64_t units) {
    return kUptimeNs + units / kUnitsOfNanosecond;
}

/// The CPU time in ns of a thread that has retired so many instructions.
constexpr std::uint64_t cpu_ns(std::uint64_t retired) {
    return retired * kUnitsOfInstruction / kUnitsOfNanosecond;
}

/// The time in ns of a clock of the whole machine (clock_gettime(2)) when the run's clock is at `units`. `epoch_ns`:
/// the time of day at which the run begins. False: it is the CPU time of a thread or process, or no clock.
constexpr bool clock_of_machine(std::int32_t clock, std::uint64_t units, std::uint64_t epoch_ns, std::uint64_t& ns) {
    switch (clock) {
        case CLOCK_REALTIME:
        case CLOCK_REALTIME_COARSE:
        case CLOCK_REALTIME_ALARM:
        case CLOCK_TAI: ns = epoch_ns + units / kUnitsOfNanosecond; return true;
        case CLOCK_MONOTONIC:
        case CLOCK_MONOTONIC_RAW:
        case CLOCK_MONOTONIC_COARSE:
        case CLOCK_BOOTTIME:
        case CLOCK_BOOTTIME_ALARM: ns = monotonic_ns(units); return true;
        default: return false;
    }
}

}  // namespace anyperf::run

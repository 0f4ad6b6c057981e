// clocks.h: attr.clockid, from linux/time.h. Software events take these, breakpoints and tracepoints only the two
// monotonic ones (kernel/events/core.c, perf_event_set_clock; measured on Linux 6.18).
#pragma once

#include <array>

#include "abi/constant.h"

namespace anyperf::abi {

inline constexpr std::array kClocks{
    Constant{0, "CLOCK_REALTIME"}, Constant{1, "CLOCK_MONOTONIC"}, Constant{4, "CLOCK_MONOTONIC_RAW"},
    Constant{7, "CLOCK_BOOTTIME"}, Constant{11, "CLOCK_TAI"},
};

/// attr.aux_action (Linux 6.13).
inline constexpr std::array kAuxActions{
    Bit{0, "aux_start_paused", "the AUX area is paused until resumed"},
    Bit{1, "aux_pause", "a sample pauses the group's AUX event"},
    Bit{2, "aux_resume", "a sample resumes it"},
};

}  // namespace anyperf::abi

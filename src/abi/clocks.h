// clocks.h: values of attr.clockid (linux/time.h).
//
// With attr.use_clockid the timestamps of records come from this clock. The kernel accepts CLOCK_MONOTONIC and
// CLOCK_MONOTONIC_RAW for any event, because they can be read in an NMI. It accepts the others of the table only for
// events of a PMU that is never used in an NMI (PERF_PMU_CAP_NO_NMI): software events, but not breakpoints and
// tracepoints (perf_event_set_clock() in kernel/events/core.c; measured on Linux 6.18).
#pragma once

#include <array>

#include "abi/constant.h"

namespace anyperf::abi {

inline constexpr std::array kClocks{
    Constant{0, "CLOCK_REALTIME"}, Constant{1, "CLOCK_MONOTONIC"}, Constant{4, "CLOCK_MONOTONIC_RAW"},
    Constant{7, "CLOCK_BOOTTIME"}, Constant{11, "CLOCK_TAI"},
};

}  // namespace anyperf::abi

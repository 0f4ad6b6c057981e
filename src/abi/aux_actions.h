// aux_actions.h: bits of attr.aux_action (uapi/linux/perf_event.h, since Linux 6.13): what an event does with the AUX
// area of its group.
#pragma once

#include <array>

#include "abi/constant.h"

namespace anyperf::abi {

inline constexpr std::array kAuxActions{
    Bit{0, "aux_start_paused", "the AUX area is paused until resumed"},
    Bit{1, "aux_pause", "a sample pauses the group's AUX event"},
    Bit{2, "aux_resume", "a sample resumes it"},
};

}  // namespace anyperf::abi

// group_rules.h: which events may be of one group, and which may share a ring: rows in the kernel's order
// (perf_event_open and perf_event_set_output of Linux 6.18).
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// EINVAL where `event` can't be a sibling of `leader`.
Answer<> check_sibling(const Event& event, const Event& leader);

/// Before rights are asked: a group that no empty PMU could hold (EINVAL).
Answer<> check_fits(const Event& event, const Event& leader);

/// E2BIG where reading the group would take more than 16 KiB, with this event in it.
Answer<> check_group_bytes(const Event& event, const Event& leader);

}  // namespace anyperf::subsystem

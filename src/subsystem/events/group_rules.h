// group_rules.h: which events may form a group: rules in the order of perf_event_open() of Linux 6.18. output.h has the
// rules for sharing a ring.
#pragma once

#include "subsystem/world.h"

namespace anyperf::subsystem {

/// EINVAL if `event` can't be a sibling of `leader`.
Answer<> check_sibling(const Event& event, const Event& leader);

/// EINVAL if not even an idle PMU has counters for the whole group. Precedes the checks of rights. For an event without
/// a group, `leader` is the event itself.
Answer<> check_fits(const Event& event, const Event& leader);

/// E2BIG if reading the group with this event in it would take more than 16 KiB.
Answer<> check_group_bytes(const Event& event, const Event& leader);

}  // namespace anyperf::subsystem

// attr_rules.h: what an attr may hold whatever its PMU is, as rows in the order in which the kernel asks
// (kernel/events/core.c of Linux 6.18: perf_copy_attr, then perf_event_open up to its descriptor, then
// perf_event_alloc).
#pragma once

#include "anyperf/attr.h"
#include "subsystem/answer.h"
#include "subsystem/host.h"

namespace anyperf::subsystem {

/// Whose attr it is: rights are asked between the other rules.
struct AttrContext {
    const Limits& limits;
    const Credentials& credentials;
};

/// What an attr may hold, as perf_copy_attr checks it for every call that takes one.
Answer<> check_attr_content(const abi::Attr& attr, const AttrContext& context);

/// What perf_event_open asks of it besides, before the group, the task and the PMU are looked at.
Answer<> check_attr(const abi::Attr& attr, const AttrContext& context);

/// After the PMU has taken it. `extended_registers` and `aux`: no PMU here has them.
Answer<> check_wired_attr(const abi::Attr& attr, const Limits& limits);

/// Fields that stand for another value: a stack depth of 0 is the maximum, a branch filter without privilege levels
/// has the event's own, and without BRANCH_STACK there is no filter.
void complete_attr(abi::Attr& attr, const Limits& limits);

}  // namespace anyperf::subsystem

// attr_rules.h: the rules for an attr that hold for all PMUs, as tables in the order in which the kernel checks them
// (kernel/events/core.c of Linux 6.18: perf_copy_attr(), then perf_event_open() up to its descriptor, then
// perf_event_alloc()). Each row has the errno and the reason that the log shows.
#pragma once

#include "anyperf/attr.h"
#include "subsystem/answer.h"
#include "subsystem/host.h"
#include "subsystem/permissions.h"

namespace anyperf::subsystem {

/// Limits of the machine and rights of the caller. Rights are checked between the other rules.
struct AttrContext {
    const Limits& limits;
    const Rights& rights;
};

/// The rules of perf_copy_attr(), which apply to every call that takes an attr (also MODIFY_ATTRIBUTES).
Answer<> check_attr_content(const abi::Attr& attr, const AttrContext& context);

/// The further rules of perf_event_open() that precede group, task and PMU.
Answer<> check_attr(const abi::Attr& attr, const AttrContext& context);

/// The rules that come after the PMU has accepted the event. No PMU here has vector registers or an AUX area.
Answer<> check_wired_attr(const abi::Attr& attr, const Limits& limits);

/// Replaces defaults by their values: a stack depth of 0 by the maximum, a branch filter without privilege levels by
/// the event's own. Without BRANCH_STACK there is no branch filter.
void complete_attr(abi::Attr& attr, const Limits& limits);

}  // namespace anyperf::subsystem

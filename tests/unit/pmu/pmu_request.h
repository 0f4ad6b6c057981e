// pmu_request.h: asks a PMU driver for an event, and matches the errno of a refusal.
#pragma once

#include <gmock/gmock.h>

#include <cstring>
#include <ostream>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"
#include "subsystem/pmu_driver.h"

namespace anyperf::pmu::testing {

/// The rights of an opener, with perf_event_paranoid 2.
inline subsystem::Rights rights_of(const subsystem::Credentials& credentials) {
    static constexpr subsystem::Limits kLimits;
    return {credentials, kLimits};
}

/// The driver's answer to an unprivileged open of `attr`, on a task or (`of_a_task` false) on a CPU.
inline subsystem::Answer<subsystem::Wiring> asked(subsystem::Pmu& pmu, const abi::Attr& attr, bool of_a_task = true) {
    const subsystem::TaskId task{.thread_page = 1, .pid = 10, .tid = 10};
    return pmu.init({.attr = attr,
                     .event = 1,
                     .task = of_a_task ? &task : nullptr,
                     .opener = task,
                     .rights = rights_of({}),
                     .inherited = false});
}

/// An answer that is refused with this errno.
MATCHER_P(RefusedWith, error, std::string{"is refused with "} + ::strerror(error)) {
    if (arg.has_value()) return *result_listener << "is not refused", false;
    *result_listener << ::strerror(arg.error().error) << ": " << arg.error().reason;
    return arg.error().error == error;
}

}  // namespace anyperf::pmu::testing

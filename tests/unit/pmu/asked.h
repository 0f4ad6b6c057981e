// asked.h: a PMU driver asked for an event, and how a refusal prints.
#pragma once

#include <gmock/gmock.h>

#include <cstring>
#include <ostream>

#include "abi/attr_flags.h"
#include "abi/event_ids.h"
#include "abi/sample_bits.h"
#include "subsystem/pmu_driver.h"

namespace anyperf::pmu::testing {

inline subsystem::Answer<subsystem::Wiring> asked(subsystem::Pmu& pmu, const abi::Attr& attr, bool of_a_task = true) {
    const subsystem::TaskName task{.thread_page = 1, .pid = 10, .tid = 10};
    return pmu.init({.attr = attr,
                     .event = 1,
                     .task = of_a_task ? &task : nullptr,
                     .opener = task,
                     .privileged = false,
                     .inherited = false});
}

MATCHER_P(RefusedWith, error, std::string{"is refused with "} + ::strerror(error)) {
    if (arg.has_value()) return *result_listener << "is not refused", false;
    *result_listener << ::strerror(arg.error().error) << ": " << arg.error().reason;
    return arg.error().error == error;
}

}  // namespace anyperf::pmu::testing

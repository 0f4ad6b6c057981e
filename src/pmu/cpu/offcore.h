// offcore.h: OFFCORE_RESPONSE events of a Skylake: requests that left L2, chosen in config1 by who made them and who
// answered (SDM volume 3, "Off-core Response Performance Monitoring").
//
// The models know the requests of loads, stores, code and prefetch that reached the last level, and whether that had
// the line. They do not know how other cores were snooped for each request, or kinds of prefetch. A choice that needs
// this is refused.
#pragma once

#include <cstdint>

#include "subsystem/pmu_driver.h"
#include "subsystem/shared/event_page.h"

namespace anyperf::pmu {

/// The source of such an event. EINVAL: the models don't count these requests or these answers.
subsystem::Answer<subsystem::Source> offcore_source(std::uint64_t config1);

}  // namespace anyperf::pmu

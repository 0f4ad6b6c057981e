// pmu_details.h: reads the folders of one PMU. Private to host.
#pragma once

#include <string>

#include "host/pmu.h"

namespace anyperf::host {

/// format/, events/ and caps/ of the PMU in `directory` ("/sys/bus/event_source/devices/cpu").
PmuDetails read_details(const Root& root, const std::string& directory);

}  // namespace anyperf::host

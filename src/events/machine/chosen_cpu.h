// chosen_cpu.h: a CPU by name, for names of events of a CPU that this machine does not have (`encode --cpu`).
#pragma once

#include <string>
#include <string_view>

#include "anyperf/error.h"
#include "events/catalog/detection/cpu.h"
#include "events/vendor/vendor_lists.h"

namespace anyperf::events {

struct ChosenCpu {
    const vendor::ListRow* list = nullptr;  ///< nullptr: perf has no list for it
    std::string pmu;                        ///< its cores in the catalog: "skl"; empty: the catalog has none
};

/// The CPU of that name: a list of perf ("skylake", "amdzen5") or a PMU of the catalog ("skl", "zen5"). Error: neither
/// has the name; the fix names similar ones.
Result<ChosenCpu> choose_cpu(std::string_view name);

}  // namespace anyperf::events

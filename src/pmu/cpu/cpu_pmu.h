// cpu_pmu.h: the virtual CPU PMU, for the attr types HARDWARE, HW_CACHE and RAW. It translates an attr to a quantity
// (quantities.h) and a set of counters.
//
// Checks are in the order of x86_pmu_event_init() and intel_pmu_hw_config() of Linux 6.18, so that an attr with several
// faults gets the errno that a Skylake's kernel returns. An event that can't be counted is refused, never counted as 0.
#pragma once

#include "pmu/cpu/quantities.h"
#include "subsystem/pmu_driver.h"

namespace anyperf::pmu {

struct CpuOptions {
    /// The number of generic counters, up to 32, in addition to the three fixed ones. With a number, groups compete for
    /// counters and are multiplexed as on hardware. 0: every event has a counter of its own.
    unsigned generic_counters = 0;
    /// The depth of the branch stack in a sample. 0: events that ask for a branch stack are refused with EOPNOTSUPP.
    unsigned branch_entries = 0;
};

/// The quantity that the attr selects. For slow_loads, config1 is the latency.
/// ENOENT: the type is not one of this PMU, or the event is valid but the PMU lacks it.
/// EINVAL: there is no such event, or the raw code is not in kRawEvents.
subsystem::Answer<Quantity> quantity_of(const abi::Attr& attr);

/// Accepts events of the types HARDWARE, HW_CACHE and RAW. It keeps no state: the subsystem counts and schedules.
class CpuPmu final : public subsystem::Pmu {
  public:
    explicit CpuPmu(CpuOptions options = {}) : options_(options) {}

    std::string_view name() const override { return "cpu"; }
    std::uint32_t type() const override;
    subsystem::Answer<subsystem::Wiring> init(const subsystem::EventRequest& request) override;

  private:
    CpuOptions options_;
};

}  // namespace anyperf::pmu

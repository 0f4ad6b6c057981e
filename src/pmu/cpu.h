// cpu.h: the virtual CPU PMU as the subsystem asks for it: attr.type HARDWARE, HW_CACHE and RAW. Refuses in the order
// of x86_pmu_event_init() and intel_pmu_hw_config() of Linux 6.18.
#pragma once

#include "pmu/quantities.h"
#include "subsystem/pmu_driver.h"

namespace anyperf::pmu {

struct CpuOptions {
    /// Generic counters, up to 32, and three fixed ones beside them; 0: each event has a counter of its own.
    unsigned generic_counters = 0;
    /// A sample may have a branch stack of so many; 0: none may, EOPNOTSUPP.
    unsigned branch_entries = 0;
};

/// The quantity that an attr of one of those types asks for. ENOENT where the type is another, or the PMU lacks the
/// event; EINVAL where there is no such event, or its raw code is none that can be counted.
subsystem::Answer<Quantity> quantity_of(const abi::Attr& attr);

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

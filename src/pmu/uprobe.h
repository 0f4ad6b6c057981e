// uprobe.h: the uprobe PMU: a place in a file, counted whenever a thread that has the file mapped reaches it, or, with
// config's bit 0, leaves the function that begins there. Checked as by perf_uprobe_event_init() and uprobe_register()
// of Linux 6.18.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>

#include "pmu/tracepoints.h"
#include "subsystem/pmu_driver.h"
#include "subsystem/shared/probe.h"

namespace anyperf::pmu {

/// The places that events are at, in the memory that measured threads see.
class ProbePlaces {
  public:
    /// `probes`: [0] names none. The memory outlives this.
    explicit ProbePlaces(std::span<subsystem::Probe> probes) : probes_(probes) {}

    /// One user more of this place. EINVAL where it is known with another counter; ENOMEM where there is no room.
    subsystem::Answer<subsystem::ProbeIndex> enter(const subsystem::Probe& probe);
    void leave(subsystem::ProbeIndex index);

  private:
    std::span<subsystem::Probe> probes_;
    std::unordered_map<subsystem::ProbeIndex, std::uint32_t> users_;
    std::uint64_t last_version_ = 0;
};

class UprobePmu final : public subsystem::Pmu {
  public:
    explicit UprobePmu(ProbePlaces& places) : places_(places) {}

    std::string_view name() const override { return "uprobe"; }
    std::uint32_t type() const override;
    subsystem::Answer<subsystem::Wiring> init(const subsystem::EventRequest& request) override;
    void destroy(subsystem::EventIndex event) override;
    subsystem::Answer<std::unique_ptr<subsystem::Filter>> filter(const abi::Attr& attr, std::string_view text) override;
    bool takes_bpf() const override { return true; }

  private:
    ProbePlaces& places_;
    std::unordered_map<subsystem::EventIndex, subsystem::ProbeIndex> place_of_;
};

/// How an event at this place is counted.
subsystem::Wiring probe_wiring(subsystem::ProbeIndex place, bool at_return, std::uint32_t record = 0);

}  // namespace anyperf::pmu

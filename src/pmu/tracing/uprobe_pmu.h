// uprobe_pmu.h: the uprobe PMU. A probe is an offset in a file. An event of it counts whenever a thread that has the
// file mapped reaches the instruction there, or, with bit 0 of config (a uretprobe), returns from the function that
// begins there.
//
// The checks are those of perf_uprobe_event_init() and uprobe_register() of Linux 6.18. Only threads of the run count;
// they find the probes in shared memory (subsystem/shared/probe.h).
#pragma once

#include <map>
#include <span>
#include <string_view>
#include <unordered_map>

#include "pmu/tracing/tracepoint_table.h"
#include "subsystem/pmu_driver.h"
#include "subsystem/shared/probe.h"

namespace anyperf::pmu {

/// The probes of the run, in memory that measured threads read. Events at the same place share a probe. The number of a
/// probe is reused after its last user is gone; `version` lets threads notice that.
class ProbeTable {
  public:
    /// `probes[0]` is not used, because 0 names no probe. The memory must outlive this object, which writes it and
    /// never reads it back.
    explicit ProbeTable(std::span<subsystem::Probe> probes) : probes_(probes) {}

    /// Finds the probe at this place, or adds it, and counts one more user of it.
    /// EINVAL: the place is probed with another reference counter. ENOMEM: the table is full.
    subsystem::Answer<subsystem::ProbeIndex> acquire(const subsystem::Probe& probe);
    /// Counts one user less. The probe's number is free after the last one.
    void release(subsystem::ProbeIndex index);

  private:
    struct Place {
        subsystem::Probe probe;
        std::uint32_t users = 0;
    };

    std::span<subsystem::Probe> probes_;
    std::map<subsystem::ProbeIndex, Place> places_;  ///< a free number has no entry
    std::uint64_t last_version_ = 0;
};

/// Accepts events of type kTypeUprobe. config1 is the address of a path, config2 the offset in that file.
class UprobePmu final : public subsystem::Pmu {
  public:
    explicit UprobePmu(ProbeTable& probe_table) : probe_table_(probe_table) {}

    std::string_view name() const override { return "uprobe"; }
    std::uint32_t type() const override;
    subsystem::Answer<subsystem::Wiring> init(const subsystem::EventRequest& request) override;
    void destroy(subsystem::EventIndex event) override;
    subsystem::Answer<std::unique_ptr<subsystem::Filter>> filter(const abi::Attr& attr, std::string_view text) override;
    bool takes_bpf() const override { return true; }

  private:
    ProbeTable& probe_table_;
    /// The probes of opened events. Inherited events use their parent's and have no entry.
    std::unordered_map<subsystem::EventIndex, subsystem::ProbeIndex> probe_of_event_;
};

/// How an event of this probe is counted. `record` is the number of the ProbeRecord that describes its raw data; 0: it
/// has none.
subsystem::Wiring probe_wiring(subsystem::ProbeIndex probe, bool at_return, std::uint32_t record = 0);

}  // namespace anyperf::pmu

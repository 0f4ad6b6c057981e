// tracepoint.h: the tracepoint PMU: what threads of the run see happen to themselves, told by those threads.
#pragma once

#include <unordered_map>

#include "pmu/probe_events.h"
#include "pmu/tracepoints.h"
#include "subsystem/pmu_driver.h"

namespace anyperf::pmu {

class TracepointPmu final : public subsystem::Pmu {
  public:
    /// `id_of_machine` is asked when the first event is opened, or a file is asked for.
    /// `probes`, if any, has those that programs define; it lives longer than this.
    explicit TracepointPmu(IdOfMachine id_of_machine = {}, ProbeEvents* probes = nullptr);

    const std::vector<Tracepoint>& all();

    std::string_view name() const override { return "tracepoint"; }
    std::uint32_t type() const override;
    subsystem::Answer<subsystem::Wiring> init(const subsystem::EventRequest& request) override;
    void destroy(subsystem::EventIndex event) override;
    subsystem::Answer<std::unique_ptr<subsystem::Filter>> filter(const abi::Attr& attr, std::string_view text) override;
    bool takes_bpf() const override { return true; }

  private:
    const Tracepoint* find(std::uint64_t id);

    IdOfMachine id_of_machine_;
    ProbeEvents* probes_;
    std::vector<Tracepoint> all_;
    std::unordered_map<std::uint64_t, std::size_t> by_id_;
};

}  // namespace anyperf::pmu

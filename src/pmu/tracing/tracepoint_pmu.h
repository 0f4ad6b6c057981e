// tracepoint_pmu.h: the tracepoint PMU (PERF_TYPE_TRACEPOINT): the built-in tracepoints of tracepoint_table.h, and
// those that programs of the run define as uprobes (probe_events.h).
//
// The measured threads raise the occurrences themselves: a thread that enters a system call, forks or reaches a probe
// counts and samples it. So a tracepoint counts the threads of the run only, never the rest of the machine.
#pragma once

#include <unordered_map>

#include "pmu/tracing/probe_events.h"
#include "pmu/tracing/tracepoint_table.h"
#include "subsystem/pmu_driver.h"

namespace anyperf::pmu {

/// Accepts events of PERF_TYPE_TRACEPOINT; attr.config is the number of a tracepoint.
class TracepointPmu final : public subsystem::Pmu {
  public:
    /// `find_host_id` is called once for each tracepoint, when the first event is opened or all_tracepoints() is
    /// called. `probes` has the tracepoints that programs define; may be null, and must outlive this object.
    explicit TracepointPmu(FindHostId find_host_id = {}, ProbeEvents* probes = nullptr);

    /// The built-in tracepoints with their numbers. Those that programs define are not among them.
    const std::vector<Tracepoint>& all_tracepoints();

    std::string_view name() const override { return "tracepoint"; }
    std::uint32_t type() const override;
    subsystem::Answer<subsystem::Wiring> init(const subsystem::EventRequest& request) override;
    void destroy(subsystem::EventIndex event) override;
    subsystem::Answer<std::unique_ptr<subsystem::Filter>> filter(const abi::Attr& attr, std::string_view text) override;
    bool takes_bpf() const override { return true; }

  private:
    /// The tracepoint with this number, built-in or defined by a program; null if no tracepoint has it.
    const Tracepoint* find(std::uint64_t id);

    FindHostId find_host_id_;
    ProbeEvents* probes_;
    std::vector<Tracepoint> all_;                           ///< empty until the first use
    std::unordered_map<std::uint64_t, std::size_t> by_id_;  ///< attr.config -> index in all_
};

}  // namespace anyperf::pmu

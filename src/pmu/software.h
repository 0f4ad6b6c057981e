// software.h: the software PMU: clocks, faults, switches, from the host's accounting; and dummies that count nothing.
#pragma once

#include <array>
#include <string_view>

#include "subsystem/pmu_driver.h"

namespace anyperf::pmu {

/// What an event's exclude bits leave of it.
enum class Mode : std::uint8_t {
    any,     ///< they change nothing
    user,    ///< exclude_user leaves nothing: what happens in kernel mode isn't told apart
    kernel,  ///< it happens in kernel mode: exclude_kernel leaves nothing
};

struct SoftwareRow {
    std::string_view name;  ///< as in abi::kSoftware; its place is attr.config
    subsystem::Source::Kind source;
    Mode mode;
    std::string_view note;
};

inline constexpr std::array kSoftwareEvents{
    SoftwareRow{"PERF_COUNT_SW_CPU_CLOCK", subsystem::Source::Kind::task_clock, Mode::any,
                "of a task: running time alone; of a CPU: CLOCK_MONOTONIC"},
    SoftwareRow{"PERF_COUNT_SW_TASK_CLOCK", subsystem::Source::Kind::task_clock, Mode::any, "as cpu-clock"},
    SoftwareRow{"PERF_COUNT_SW_PAGE_FAULTS", subsystem::Source::Kind::page_faults, Mode::user, "minor + major"},
    SoftwareRow{"PERF_COUNT_SW_CONTEXT_SWITCHES", subsystem::Source::Kind::context_switches, Mode::kernel, ""},
    SoftwareRow{"PERF_COUNT_SW_CPU_MIGRATIONS", subsystem::Source::Kind::cpu_migrations, Mode::kernel, ""},
    SoftwareRow{"PERF_COUNT_SW_PAGE_FAULTS_MIN", subsystem::Source::Kind::minor_faults, Mode::user, ""},
    SoftwareRow{"PERF_COUNT_SW_PAGE_FAULTS_MAJ", subsystem::Source::Kind::major_faults, Mode::user, ""},
    SoftwareRow{"PERF_COUNT_SW_ALIGNMENT_FAULTS", subsystem::Source::Kind::nothing, Mode::any, "x86 has none"},
    SoftwareRow{"PERF_COUNT_SW_EMULATION_FAULTS", subsystem::Source::Kind::nothing, Mode::any, "x86 has none"},
    SoftwareRow{"PERF_COUNT_SW_DUMMY", subsystem::Source::Kind::nothing, Mode::any, "for its side-band records"},
    SoftwareRow{"PERF_COUNT_SW_BPF_OUTPUT", subsystem::Source::Kind::nothing, Mode::any, "no BPF program writes"},
    SoftwareRow{"PERF_COUNT_SW_CGROUP_SWITCHES", subsystem::Source::Kind::nothing, Mode::kernel,
                "the run's tasks stay in their cgroup"},
};

struct SoftwareOptions {
    /// Clocks of tasks go by the cost model of docs/models.md, so that they and their samples repeat.
    bool modelled_time = false;
};

class SoftwarePmu final : public subsystem::Pmu {
  public:
    explicit SoftwarePmu(SoftwareOptions options = {}) : options_(options) {}

    std::string_view name() const override { return "software"; }
    std::uint32_t type() const override;
    subsystem::Answer<subsystem::Wiring> init(const subsystem::EventRequest& request) override;

  private:
    SoftwareOptions options_;
};

}  // namespace anyperf::pmu

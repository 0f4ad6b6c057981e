// software_pmu.h: the software PMU (PERF_TYPE_SOFTWARE). Clocks, page faults, context switches and migrations come from
// the host kernel's accounting of the task. Page faults and context switches of the engine are left out. The dummy
// events count nothing, as on Linux.
//
// By default the values are as noisy as the host's. With SoftwareOptions::run_clock the clocks of tasks are
// computed from the instructions instead, and repeat exactly.
#pragma once

#include <array>
#include <string_view>

#include "subsystem/pmu_driver.h"

namespace anyperf::pmu {

/// The exclude bit that makes an event count nothing at all.
enum class SuppressedBy : std::uint8_t {
    nothing,
    exclude_user,    ///< the host does not say in which mode each occurrence was; all count as those of user mode
    exclude_kernel,  ///< it always happens in kernel mode
};

/// A software event. Its index in kSoftwareEvents is attr.config.
struct SoftwareRow {
    std::string_view name;  ///< as in abi::kSoftware
    subsystem::Source::Kind source;
    SuppressedBy suppressed_by;
    std::string_view note;  ///< where the count differs from what one may expect, and why
};

inline constexpr std::array kSoftwareEvents{
    SoftwareRow{"PERF_COUNT_SW_CPU_CLOCK", subsystem::Source::Kind::task_clock, SuppressedBy::nothing,
                "of a task: its running time; of a CPU: CLOCK_MONOTONIC"},
    SoftwareRow{"PERF_COUNT_SW_TASK_CLOCK", subsystem::Source::Kind::task_clock, SuppressedBy::nothing, "as cpu-clock"},
    SoftwareRow{"PERF_COUNT_SW_PAGE_FAULTS", subsystem::Source::Kind::page_faults, SuppressedBy::exclude_user,
                "minor + major"},
    SoftwareRow{"PERF_COUNT_SW_CONTEXT_SWITCHES", subsystem::Source::Kind::context_switches,
                SuppressedBy::exclude_kernel, ""},
    SoftwareRow{"PERF_COUNT_SW_CPU_MIGRATIONS", subsystem::Source::Kind::cpu_migrations, SuppressedBy::exclude_kernel,
                ""},
    SoftwareRow{"PERF_COUNT_SW_PAGE_FAULTS_MIN", subsystem::Source::Kind::minor_faults, SuppressedBy::exclude_user, ""},
    SoftwareRow{"PERF_COUNT_SW_PAGE_FAULTS_MAJ", subsystem::Source::Kind::major_faults, SuppressedBy::exclude_user, ""},
    SoftwareRow{"PERF_COUNT_SW_ALIGNMENT_FAULTS", subsystem::Source::Kind::nothing, SuppressedBy::nothing,
                "x86 has none"},
    SoftwareRow{"PERF_COUNT_SW_EMULATION_FAULTS", subsystem::Source::Kind::nothing, SuppressedBy::nothing,
                "x86 has none"},
    SoftwareRow{"PERF_COUNT_SW_DUMMY", subsystem::Source::Kind::nothing, SuppressedBy::nothing,
                "for its side-band records"},
    SoftwareRow{"PERF_COUNT_SW_BPF_OUTPUT", subsystem::Source::Kind::nothing, SuppressedBy::nothing,
                "no BPF program writes"},
    SoftwareRow{"PERF_COUNT_SW_CGROUP_SWITCHES", subsystem::Source::Kind::nothing, SuppressedBy::exclude_kernel,
                "the run's tasks stay in their cgroup"},
};

struct SoftwareOptions {
    /// cpu-clock and task-clock are the CPU time that threads of a deterministic run read (run/run_clock.h), so that
    /// counts and samples repeat.
    bool run_clock = false;
};

/// Accepts events of PERF_TYPE_SOFTWARE. They need no counters, and the PMU keeps no state.
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

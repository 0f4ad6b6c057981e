// breakpoint_pmu.h: the breakpoint PMU (PERF_TYPE_BREAKPOINT): counts executions of an address, or accesses to 1, 2, 4
// or 8 bytes. The checks are those of hw_breakpoint_event_init() and hw_breakpoint_arch_parse() of Linux 6.18 on
// x86-64.
//
// No debug register is used: the translated code of measured threads finds the hits. The four slots of the hardware are
// still accounted for, so that the fifth breakpoint of a task is refused as on Linux.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "subsystem/pmu_driver.h"

namespace anyperf::pmu {

inline constexpr unsigned kBreakpointSlots = 4;  ///< debug registers 0 to 3

/// Accepts events of PERF_TYPE_BREAKPOINT and keeps account of the slots that they use.
class BreakpointPmu final : public subsystem::Pmu {
  public:
    std::string_view name() const override { return "breakpoint"; }
    std::uint32_t type() const override;
    subsystem::Answer<subsystem::Wiring> init(const subsystem::EventRequest& request) override;
    void destroy(subsystem::EventIndex event) override;
    subsystem::Answer<> modify(subsystem::EventIndex event, abi::Attr& attr, const abi::Attr& wanted) override;

  private:
    /// An event that uses a slot: of one task or of all tasks, on one CPU or on all.
    struct Slot {
        subsystem::EventIndex event = 0;
        std::int32_t tid = -1;          ///< of the task; -1: all tasks that run on the CPU
        std::int32_t cpu = -1;          ///< -1: any CPU that the task runs on
        bool may_break_kernel = false;  ///< the opener had CAP_SYS_ADMIN
    };

    bool has_free_slot(const Slot& wanted) const;
    /// Whether one more breakpoint of the task (-1: of all tasks) fits on this CPU.
    bool has_free_slot_on(std::int32_t cpu, std::int32_t tid) const;

    std::vector<Slot> slots_;
};

}  // namespace anyperf::pmu

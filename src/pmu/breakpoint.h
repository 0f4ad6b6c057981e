// breakpoint.h: the breakpoint PMU: executions of an address, accesses to a few bytes. Checked as by
// hw_breakpoint_event_init() and hw_breakpoint_arch_parse() of Linux 6.18 on x86-64: four slots a task, which its own
// events and those of the CPU share.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "subsystem/pmu_driver.h"

namespace anyperf::pmu {

inline constexpr unsigned kBreakpointSlots = 4;  ///< debug registers 0 to 3

class BreakpointPmu final : public subsystem::Pmu {
  public:
    std::string_view name() const override { return "breakpoint"; }
    std::uint32_t type() const override;
    subsystem::Answer<subsystem::Wiring> init(const subsystem::EventRequest& request) override;
    void destroy(subsystem::EventIndex event) override;
    subsystem::Answer<> modify(subsystem::EventIndex event, abi::Attr& attr, const abi::Attr& wanted) override;

  private:
    /// One event that has a slot.
    struct Slot {
        subsystem::EventIndex event = 0;
        std::int32_t tid = -1;  ///< of the task; -1: every task of the CPU
        std::int32_t cpu = -1;  ///< -1: wherever the task is
    };

    bool has_room(const Slot& wanted) const;
    bool has_room_on(std::int32_t cpu, std::int32_t tid) const;

    std::vector<Slot> slots_;
};

}  // namespace anyperf::pmu

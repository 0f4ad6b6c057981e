// cost_model.h: what an instruction costs in cycles, by its classes. Cycles are the sum of the costs, so they are the
// same in every run; they know nothing of caches, dependencies or predictions of this very program. docs/models.md says
// what that is good for and where the figures are from.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/x86_64/classes.h"
#include "subsystem/shared/event_page.h"

namespace anyperf::pmu {

inline constexpr unsigned kCostShift = 6;  ///< costs are in 64ths of a cycle

/// Each instruction pays for every class that it is in.
struct CostRow {
    engine::x86_64::Class of;
    std::int32_t cost;  ///< 64ths of a cycle
    std::string_view reason;
};

inline constexpr std::array kCosts{
    CostRow{engine::x86_64::Class::instructions, 16, "four are renamed and retire in a cycle"},
    CostRow{engine::x86_64::Class::loads, 16, "two a cycle; half of them stand where something waits for them"},
    CostRow{engine::x86_64::Class::stores, 32, "one a cycle, half of them beside other work"},
    CostRow{engine::x86_64::Class::conditional, 16, "one in sixty is mispredicted, at 16 cycles"},
    CostRow{engine::x86_64::Class::taken, 32, "ends a line of decoded instructions: half a cycle"},
    CostRow{engine::x86_64::Class::indirect, 64, "one in sixteen is mispredicted, at 16 cycles"},
    CostRow{engine::x86_64::Class::floating_point, 32, "a latency of four, of which most is hidden"},
    CostRow{engine::x86_64::Class::syscalls, 6400, "100 cycles of entry and exit that user mode waits for"},
};
static_assert(kCosts.size() <= subsystem::Source::kTerms);
inline constexpr unsigned kCallCosts = 1;  ///< the last so many rows are costs of system calls
static_assert(kCosts.back().of == engine::x86_64::Class::syscalls);

/// The clock that is advertised, of cycles and of the time stamp counter, and the bus clock below it.
inline constexpr unsigned kClockMhz = 3200;
inline constexpr unsigned kBusMhz = 100;
inline constexpr unsigned kCyclesPerBusCycleLog2 = 5;
static_assert(kBusMhz << kCyclesPerBusCycleLog2 == kClockMhz);

}  // namespace anyperf::pmu

// cost_model.h: the cost of an instruction in cycles, by its classes. The modelled cycles of a program are the sum of
// the costs of its instructions.
//
// The sum is a function of the instructions only, so it is the same in every run. It knows nothing about caches,
// dependencies or branch prediction of the particular program, so it can't replace a measurement on hardware; compare
// it only with other modelled counts. docs/models.md explains its use and the origin of the figures.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "engine/x86_64/decode/classes.h"
#include "subsystem/shared/event_page.h"

namespace anyperf::pmu {

inline constexpr unsigned kCostShift = 6;  ///< costs are in 64ths of a cycle

/// The cost of one class. An instruction costs the sum of the rows of all classes that it belongs to.
struct CostRow {
    engine::x86_64::Class instruction_class;
    std::int32_t cost;  ///< 64ths of a cycle
    std::string_view reason;
};

/// The classes that cost something. The rows of system calls must be last: Source::syscall_terms says how many there
/// are at the end. Their terms change only at system calls, so the agent checks after each call whether they have
/// caused an overflow.
inline constexpr std::array kCosts{
    CostRow{engine::x86_64::Class::instructions, 16, "four are renamed and retire in a cycle"},
    CostRow{engine::x86_64::Class::loads, 16, "two a cycle; half of them are waited for"},
    CostRow{engine::x86_64::Class::stores, 32, "one a cycle; half of them overlap with other work"},
    CostRow{engine::x86_64::Class::conditional, 16, "one in sixty is mispredicted, at 16 cycles"},
    CostRow{engine::x86_64::Class::taken, 32, "ends a line of decoded instructions: half a cycle"},
    CostRow{engine::x86_64::Class::indirect, 64, "one in sixteen is mispredicted, at 16 cycles"},
    CostRow{engine::x86_64::Class::floating_point, 32, "a latency of four, of which most is hidden"},
    CostRow{engine::x86_64::Class::syscalls, 6400, "100 cycles of entry and exit during which user mode waits"},
};
static_assert(kCosts.size() <= subsystem::Source::kTerms);
inline constexpr unsigned kSyscallCostRows = 1;  ///< how many rows at the end are costs of system calls
static_assert(kCosts.back().instruction_class == engine::x86_64::Class::syscalls);

/// The clock of cycles and reference cycles, which CPUID and /proc/cpuinfo advertise, and the bus clock. A bus cycle
/// has 2^kCyclesPerBusCycleLog2 cycles, so that bus cycles are the shifted sum of cycles.
inline constexpr unsigned kClockMhz = 3200;
inline constexpr unsigned kBusMhz = 100;
inline constexpr unsigned kCyclesPerBusCycleLog2 = 5;
static_assert(kBusMhz << kCyclesPerBusCycleLog2 == kClockMhz);

}  // namespace anyperf::pmu

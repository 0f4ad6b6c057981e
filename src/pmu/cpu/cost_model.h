// cost_model.h: the clock of the presented CPU, and what modelled cycles have besides the cost of segments, which the
// engine computes when it translates them (engine/x86_64/translate/cost.h). docs/models.md has the accuracy.
#pragma once

#include <cstdint>

#include "engine/x86_64/decode/classes.h"

namespace anyperf::pmu {

inline constexpr unsigned kCostShift = 3;  ///< costs are in eighths of a cycle
static_assert(engine::x86_64::kCostUnits == 1u << kCostShift);

/// Cycles of entry and exit of a system call, during which user mode waits. Their term is the last of a source of
/// cycles: Source::syscall_terms says how many there are at the end. They change only at system calls, so the agent
/// checks after each call whether they have caused an overflow.
inline constexpr std::int32_t kSyscallCycles = 100;
inline constexpr unsigned kSyscallCostTerms = 1;

/// The most that one instruction adds, system calls apart (kMostCost in engine/x86_64/translate/cost.h).
inline constexpr std::uint32_t kMostCyclesPerInstruction = 32;

/// The clock of cycles and reference cycles, which CPUID and /proc/cpuinfo advertise, and the bus clock. A bus cycle
/// has 2^kCyclesPerBusCycleLog2 cycles, so that bus cycles are the shifted sum of cycles.
inline constexpr unsigned kClockMhz = 3200;
inline constexpr unsigned kBusMhz = 100;
inline constexpr unsigned kCyclesPerBusCycleLog2 = 5;
static_assert(kBusMhz << kCyclesPerBusCycleLog2 == kClockMhz);

}  // namespace anyperf::pmu

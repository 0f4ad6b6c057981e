// timing.h: how long an instruction takes on the core that data/timing describes, without its accesses to memory. The
// model of cycles (translate/cost.h) computes the cost of a segment from it.
#pragma once

#include <cstdint>

namespace anyperf::engine::x86_64 {

/// What executes an instruction.
enum class Unit : std::uint8_t {
    none,            ///< nothing: renaming is enough (nop), or only an access to memory
    integer,         ///< an integer unit
    multiply,        ///< the one integer unit that multiplies and counts bits
    divide,          ///< the divider
    divide32,        ///< the divider, for 64 by 32 bits: Pipeline::division has its latency
    divide64,        ///< the divider, for 128 by 64 bits: some cores have a faster one (Pipeline::wide_division)
    vector,          ///< a vector unit
    float_add,       ///< a vector unit that adds floats: Pipeline::float_addition has its latency
    float_multiply,  ///< a vector unit that multiplies floats: Pipeline::float_multiplication
};

struct Timing {
    std::uint8_t latency = 0;  ///< cycles until the result can be used
    Unit unit = Unit::none;
    std::uint8_t slots = 1;        ///< fused micro-operations
    std::uint16_t occupancy = 25;  ///< hundredths of a cycle for which it takes its kind of unit
};

/// The timing with this number (Instruction::timing).
const Timing& timing_of(std::uint8_t number);

}  // namespace anyperf::engine::x86_64

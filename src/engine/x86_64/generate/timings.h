// timings.h: which timing of data/timing an instruction has.
#pragma once

#include <Zydis/Zydis.h>

#include <cstdint>
#include <ostream>

namespace anyperf::engine::x86_64::generate {

/// The number of the instruction's Timing (decode/timing.h). An instruction without a row has the timing of an ordinary
/// one of its kind.
std::uint8_t timing_number(const ZydisDecodedInstruction& instruction, const ZydisDecodedOperand* operands);

/// Writes the array of all timings as C++, for decode.cpp to include.
void write_timings(std::ostream& out);

}  // namespace anyperf::engine::x86_64::generate

// cost.h: what the instructions of a segment cost in cycles, if all that they access is in L1 and every branch is
// predicted. It is computed once, when the segment is translated.
//
// The problem: cycles by classes of instructions know nothing about dependencies, so a chain of divisions costs as much
// as one of additions. A simulation of the pipeline costs some 70 ns for each instruction that runs.
//
// The mechanism: a segment costs the larger of two bounds, computed as if it ran again and again:
// - throughput: what the busiest part of the core needs for it (renaming, integer and vector units, the divider, loads,
//   stores, taken branches);
// - latency: by how much a round of it delays the next one through registers, flags and memory.
// A core with a window of hundreds of instructions hides everything else. A misprediction empties the window, so that
// the branch waits for all that it depends on in its segment: that is `resolving`. Facts about instructions are in
// data/timing, those about the core in models::Pipeline.
//
// What it can't do: chains from one segment to another are not seen. If a segment's branch leads elsewhere, other code
// runs between two rounds, and all but a cycle of its chain with itself counts nevertheless.
//
// Costs are whole eighths of a cycle, and above two cycles rounded to four significant bits: a segment's cost is a part
// of its tuple (run/tuple_counts.h), of which there are few.
#pragma once

#include <cstdint>

#include "engine/freestanding/unset_array.h"
#include "engine/x86_64/decode/classes.h"
#include "engine/x86_64/decode/decode_block.h"
#include "models/machine.h"

namespace anyperf::engine::x86_64 {

/// The most that one instruction costs, in these units: 32 cycles. It bounds how soon an event of cycles can overflow.
inline constexpr unsigned kMostCost = 32 * kCostUnits;

/// The most that an instruction keeps the core busy, in these units. Only microcode exceeds it.
inline constexpr unsigned kMostBusy = 15;

/// The cost of an instruction, in these units.
struct InstructionCost {
    std::uint16_t cost = 0;
    std::uint8_t busy = 0;  ///< the part of the costs so far in which the core does what it can: slots by its width
    /// Of a segment's last instruction: by how many cycles a misprediction costs more than the machine's penalty.
    std::uint8_t resolving = 0;
};

/// The cost of each instruction of a block, of which those are set that were computed. The cost of a segment is their
/// sum. No segment's first instructions are busy for longer than they cost.
using InstructionCosts = UnsetArray<InstructionCost, kLongestBlock>;

/// Computes the costs of the instructions from `first` up to `end`, which are one segment. `code`: the bytes of
/// instruction `first`.
void cost_segment(const DecodedBlock& block, std::size_t first, std::size_t end, const std::uint8_t* code,
                  const models::Machine& machine, InstructionCosts& out);

/// The cost of an instruction that runs by itself, not in a segment.
InstructionCost cost_alone(const Instruction& instruction, const models::Machine& machine);

}  // namespace anyperf::engine::x86_64

#include "agent/sampling/branches/branch_cycles.h"

#include <algorithm>

#include "engine/engine.h"
#include "engine/x86_64/cpu/guarded_copy.h"
#include "engine/x86_64/decode/decode_block.h"
#include "engine/x86_64/translate/cost.h"

namespace anyperf::agent {

namespace {

using engine::x86_64::Control;
using engine::x86_64::DecodedBlock;

constexpr std::uint64_t kMostBytes = 4096;
constexpr std::size_t kLongestInstruction = 15;

/// Whether control may go from the last instruction of a block to the next one without a taken branch.
bool continues(const DecodedBlock& block) {
    switch (block.instructions[block.count - 1].control) {
        case Control::none:
        case Control::conditional:
        case Control::rcx_branch:
        case Control::cpuid:
        case Control::xgetbv:
        case Control::rdtsc:
        case Control::random:
        case Control::segment_base:
        case Control::x87_state:
        case Control::rdpmc: return true;
        default: return false;
    }
}

/// Adds the costs of a block's instructions up to the one at `branch`, in eighths of a cycle. Returns whether that was
/// there.
bool add_costs(const DecodedBlock& block, const std::uint8_t* code, std::uint64_t branch,
               const models::Machine& machine, std::uint64_t& cost) {
    engine::x86_64::InstructionCosts costs;
    std::uint64_t at = block.pc;
    for (std::size_t first = 0; first < block.count;) {
        const std::size_t end = block.segment_end(first);
        cost_segment(block, first, end, code + (at - block.pc), machine, costs);
        for (; first < end; ++first) {
            cost += costs[first].cost;
            if (at == branch) return true;
            at += block.instructions[first].length;
        }
    }
    return false;
}

/// straight_cycles(), computed.
std::uint32_t compute(std::uint64_t start, std::uint64_t branch, const models::Machine& machine) {
    std::uint64_t cost = 0;
    for (std::uint64_t pc = start; pc <= branch;) {
        std::uint8_t code[engine::x86_64::kLongestBlock * kLongestInstruction];
        const std::size_t wanted = std::min<std::uint64_t>(sizeof code, branch - pc + kLongestInstruction);
        const std::size_t size = engine::x86_64::guarded_prefix(code, engine::at_address<const void>(pc), wanted);
        DecodedBlock block;
        decode_block({.pc = pc, .at = code, .size = size}, engine::x86_64::kLongestBlock, block);
        if (block.count == 0) return 0;
        if (add_costs(block, code, branch, machine, cost))
            return static_cast<std::uint32_t>(
                std::max<std::uint64_t>(1, (cost + engine::x86_64::kCostUnits / 2) / engine::x86_64::kCostUnits));
        if (!continues(block)) return 0;
        pc = block.end;
    }
    return 0;
}

}  // namespace

std::uint32_t straight_cycles(KnownCycles& known, std::uint64_t start, std::uint64_t branch,
                              const models::Machine& machine) {
    if (branch - start >= kMostBytes) return 0;
    const auto bytes = static_cast<std::uint32_t>(branch - start + 1);
    KnownCycles::Entry& entry = known.entries[(start ^ branch >> 2) % KnownCycles::kEntries];
    if (entry.start != start || entry.bytes != bytes)
        entry = {.start = start, .bytes = bytes, .cycles = compute(start, branch, machine)};
    return entry.cycles;
}

}  // namespace anyperf::agent

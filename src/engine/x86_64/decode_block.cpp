// decode_block.cpp: a block's instructions, and what is known of the flags behind it.
#include "engine/x86_64/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr std::size_t kLookAhead = 16;

/// Decodes what stands at `address`, as far as it may be executed.
bool decode_at(const ExecutableMap& memory, std::uint64_t address, Instruction& out) {
    const std::uint64_t readable = memory.bytes_from(address);
    if (readable == 0) return false;
    return decode(at_address<const std::uint8_t>(address), readable, out) == DecodeStatus::ok;
}

enum class Fate { dead, live, open };

/// What one instruction tells of the flags in `undecided`, which it takes from as they are overwritten.
Fate fate_after(const Instruction& instruction, FlagSet& undecided) {
    if ((instruction.flags_read & undecided) != 0) return Fate::live;
    undecided &= static_cast<FlagSet>(~instruction.flags_overwritten);
    return undecided == 0 ? Fate::dead : Fate::open;
}

bool dead_from(const ExecutableMap& memory, std::uint64_t pc, FlagSet undecided, unsigned depth, Known known) {
    Instruction decoded;
    for (std::size_t i = 0; i < kLookAhead; ++i) {
        const bool is_known = known.block != nullptr && known.next < known.block->count;
        if (!is_known && !decode_at(memory, pc, decoded)) return false;
        const Instruction& instruction = is_known ? known.block->instructions[known.next++] : decoded;
        const Fate fate = fate_after(instruction, undecided);
        if (fate != Fate::open) return fate == Fate::dead;
        const std::uint64_t next = pc + instruction.length;
        switch (instruction.control) {
            case Control::none: pc = next; continue;
            case Control::jump:
            case Control::call:
                return depth > 0 && dead_from(memory, branch_target(instruction, pc), undecided, depth - 1, {});
            case Control::conditional:
            case Control::counted:
                return depth > 0 && dead_from(memory, next, undecided, depth - 1, known) &&
                       dead_from(memory, branch_target(instruction, pc), undecided, depth - 1, {});
            default: return false;
        }
    }
    return false;
}

}  // namespace

void decode_block(const CodeBytes& code, std::size_t limit, DecodedBlock& out) {
    out.pc = code.pc;
    out.count = 0;
    std::size_t done = 0;
    std::size_t passed = 0;
    while (out.count < limit && out.count < kLongestBlock) {
        Instruction& instruction = out.instructions[out.count];
        instruction = {};
        if (done == code.size || decode(code.at + done, code.size - done, instruction) != DecodeStatus::ok) break;
        done += instruction.length;
        ++out.count;
        if (instruction.control == Control::none) continue;
        // Back go loops, as a rule.
        const bool goes_on =
            instruction.control == Control::conditional && static_cast<std::int64_t>(instruction.immediate) > 0;
        if (!goes_on || passed++ == kPassedConditionals) break;
    }
    out.end = code.pc + done;
}

bool flags_are_dead(const ExecutableMap& memory, std::uint64_t pc, unsigned depth, Known known) {
    return dead_from(memory, pc, kStatusFlags, depth, known);
}

}  // namespace anyperf::engine::x86_64

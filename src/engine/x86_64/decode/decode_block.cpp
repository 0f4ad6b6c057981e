// decode_block.cpp: decides where blocks end, and finds out by a search whether the translator may change the flags.
//
// Why a search: counting costs one `sub` if the flags are dead at the start of a segment, and several instructions if
// not. An instruction that overwrites all flags is seldom far away, but often after a branch; so both ways of a branch
// are followed. "Dead" must be certain, on every path and on every CPU; "live" may be wrong. The search ends with
// "live" at returns, indirect branches and system calls, because the code after them may read the flags.
#include "engine/x86_64/decode/decode_block.h"

#include <algorithm>

#include "engine/freestanding/kernel.h"

namespace anyperf::engine::x86_64 {

namespace {

constexpr std::size_t kLookAhead = 16;  // the search reads at most this many instructions between two branches

/// Decodes the instruction at `address`. False if it is not executable memory or not a valid instruction.
bool decode_at(const ExecutableMap& memory, std::uint64_t address, Instruction& out, CodeRead* read) {
    const std::uint64_t readable = memory.bytes_from(address);
    const bool valid =
        readable != 0 && decode(at_address<const std::uint8_t>(address), readable, out) == DecodeStatus::ok;
    if (read != nullptr) read->add(address, valid ? out.length : kLongestInstruction);
    return valid;
}

/// What the instructions that the search has read say of the flags. `open`: they do not decide it.
enum class FlagFate { dead, live, open };

/// Removes from `undecided` the flags that the instruction overwrites. The flags are dead once all are overwritten,
/// live if one of them is read before.
FlagFate fate_after(const Instruction& instruction, FlagSet& undecided) {
    if ((instruction.flags_read & undecided) != 0) return FlagFate::live;
    undecided &= static_cast<FlagSet>(~instruction.flags_overwritten);
    return undecided == 0 ? FlagFate::dead : FlagFate::open;
}

/// Whether every path from `pc` overwrites all of `undecided` before it reads one of them. The search follows direct
/// branches only; any other change of control ends it with false.
bool dead_from(const ExecutableMap& memory, std::uint64_t pc, FlagSet undecided, unsigned depth,
               DecodedTail decoded_tail, CodeRead* read) {
    Instruction decoded;
    for (std::size_t i = 0; i < kLookAhead; ++i) {
        const bool is_known = decoded_tail.block != nullptr && decoded_tail.next < decoded_tail.block->count;
        // Code that cannot be decoded raises a fault, and the signal handler's frame shows the flags: they are live. An
        // access to memory may fault as well, but rarely does, so the search does not end there (translate.h).
        if (!is_known && !decode_at(memory, pc, decoded, read)) return false;
        const Instruction& instruction = is_known ? decoded_tail.block->instructions[decoded_tail.next++] : decoded;
        const FlagFate fate = fate_after(instruction, undecided);
        if (fate != FlagFate::open) return fate == FlagFate::dead;
        const std::uint64_t next = pc + instruction.length;
        switch (instruction.control) {
            case Control::none: pc = next; continue;
            case Control::jump:
            case Control::call:
                return depth > 0 && dead_from(memory, branch_target(instruction, pc), undecided, depth - 1, {}, read);
            case Control::conditional:
            case Control::rcx_branch:
                return depth > 0 && dead_from(memory, next, undecided, depth - 1, decoded_tail, read) &&
                       dead_from(memory, branch_target(instruction, pc), undecided, depth - 1, {}, read);
            default: return false;
        }
    }
    return false;
}

}  // namespace

// A range of its own costs some six bytes of a stored block and a checksum, so one with a gap is better.
void CodeRead::add(std::uint64_t address, std::uint64_t bytes) {
    constexpr std::uint64_t kGap = 32;
    const auto extend = [&](std::uint64_t most) {
        for (std::size_t i = 0; i < count; ++i) {
            const Range both{std::min(range[i].start, address), std::max(range[i].end, address + bytes)};
            if (both.end - both.start > most + (range[i].end - range[i].start) || both.end - both.start > kMostBytes)
                continue;
            range[i] = both;
            return true;
        }
        return false;
    };
    if (extend(bytes + kGap)) return;
    if (count < kMost)
        range[count++] = {address, address + bytes};
    else if (!extend(kMostBytes))
        too_many = true;
}

namespace {

/// Counts the branches after which a block continues.
struct PassedBranches {
    std::size_t conditional = 0;
    std::size_t calls = 0;

    /// Whether a block continues after this one.
    bool passes(const Instruction& instruction, bool past_calls) {
        // A backward branch mostly closes a loop and is taken, so the code after it would seldom be executed.
        if (instruction.control == Control::conditional)
            return static_cast<std::int64_t>(instruction.immediate) > 0 && conditional++ < kMaximumSideExits;
        return past_calls && is_call(instruction) && calls++ < kMaximumCalls;
    }
};

}  // namespace

void decode_block(const CodeBytes& code, std::size_t limit, DecodedBlock& out, PresentedIsa cpu, bool past_calls) {
    out.pc = code.pc;
    out.count = 0;
    std::size_t done = 0;
    PassedBranches passed;
    while (out.count < limit && out.count < kLongestBlock) {
        Instruction& instruction = out.instructions[out.count];
        if (done == code.size || decode(code.at + done, code.size - done, instruction) != DecodeStatus::ok) break;
        present(instruction, cpu);
        done += instruction.length;
        ++out.count;
        if (instruction.control != Control::none && !passed.passes(instruction, past_calls)) break;
    }
    out.end = code.pc + done;
}

bool flags_are_dead(const ExecutableMap& memory, std::uint64_t pc, unsigned depth, DecodedTail decoded_tail,
                    CodeRead* read) {
    return dead_from(memory, pc, kStatusFlags, depth, decoded_tail, read);
}

}  // namespace anyperf::engine::x86_64

// watch.cpp: what translated code does while something is watched. A block at a watched address is nothing but a way
// out, and none runs over such an address. Before each access to memory of a watched kind the code asks the thread's
// filter, a table by the low 16 bits of the address: a lea and two movzx, so that no flag is touched. What the filter
// can't tell (strings, segments, wide areas) always stops; the engine then looks closely.
#include "engine/x86_64/translate.h"

namespace anyperf::engine::x86_64 {

void Translation::stop_before_watched() {
    if (!watched_.code.any()) return;
    std::uint64_t address = decoded_.pc;
    for (std::size_t i = 0; i < decoded_.count; ++i) {
        if (i != 0 && watched_.holds(address)) {
            decoded_.count = i;
            decoded_.end = address;
            return;
        }
        address += decoded_.instructions[i].length;
    }
}

void Translation::emit_watched_start() {
    block_->instructions = 0;
    mark(decoded_.count = 0, Mark::kNone);
    if (const ExitId id = new_exit(decoded_.pc); id != 0) emit_stop(id);
}

void Translation::emit_stop(ExitId to) {
    hot_.jmp(leave_stub(Leave::watch, to));
}

/// rcx, which is spilled, has the address.
void Translation::emit_filter(ExitId to) {
    hot_.movzx16(rcx, rcx);
    hot_.movzx8_gs(rcx, rcx, offsetof(Thread, watch_filter));
    std::uint8_t* const clear = hot_.jrcxz_forward();
    std::uint8_t* const stub = cold_.at();
    cold_.load_gs(rcx, offsetof(Thread, spill) + std::size_t{8} * rcx);
    leave_stub(Leave::watch, to);
    hot_.jmp(stub);
    hot_.land(clear);
    unspill(rcx);
}

bool Translation::can_filter_operand(const Instruction& instruction, const std::uint8_t* code) const {
    constexpr std::uint8_t kEvex = 0x62;
    const bool compressed =
        instruction.has_vex && code[instruction.vex_offset] == kEvex && instruction.displacement_bytes == 1;
    return instruction.modrm_offset != 0 && instruction.segment == Segment::none && !compressed &&
           instruction.operand_bytes != 0 && instruction.operand_bytes <= kWidestAsked;
}

namespace {

/// push, pop, call and ret, whose place is known from rsp.
bool is_stack_access(const Instruction& instruction) {
    const std::uint8_t opcode = instruction.opcode;
    if (instruction.has_vex || instruction.implied_bytes == 0) return false;
    if (instruction.map == 1) return (opcode & 0xf6) == 0xa0;  // push and pop of fs and gs
    if (instruction.map != 0) return false;
    if (opcode >= 0x50 && opcode < 0x60) return true;
    for (const std::uint8_t one : {0x68, 0x6a, 0x8f, 0x9c, 0x9d, 0xc2, 0xc3, 0xe8, 0xff})
        if (opcode == one) return true;
    return false;
}

bool may_be_watched(const Instruction& instruction) {
    return !runs_in_place(instruction) && instruction.control != Control::syscall;
}

}  // namespace

void Translation::emit_question(const Instruction& instruction, std::uint64_t address) {
    const bool asks = (watched_.loads && instruction.reads_memory) || (watched_.stores && instruction.writes_memory);
    if (!asks || !may_be_watched(instruction)) return;
    const ExitId to = new_exit(address);
    if (to == 0) return;
    const std::uint8_t* const code = bytes_at(address);
    const bool named = instruction.reads_operand || instruction.writes_operand;
    const bool stack = is_stack_access(instruction);
    if ((instruction.implied_bytes != 0 && !stack) || (named && !can_filter_operand(instruction, code)))
        return emit_stop(to);
    if (named) {
        spill(rcx);
        load_effective_address(instruction, address, rcx);
        emit_filter(to);
    }
    if (stack) {
        const bool writes = instruction.writes_memory && !instruction.writes_operand;
        spill(rcx);
        hot_.lea(rcx, rsp, writes ? -std::int32_t{instruction.implied_bytes} : 0);
        emit_filter(to);
    }
}

}  // namespace anyperf::engine::x86_64

// breakpoints.cpp: how translated code stops at breakpoints and watched memory (PERF_TYPE_BREAKPOINT, uprobes).
//
// - Execution: a block ends before an address with a breakpoint. The block at that address consists of one exit with
//   ExitReason::breakpoint.
// - Accesses: while memory is watched, a check precedes each load or store of a watched kind. Its address indexes the
//   thread's filter (Thread::watchpoint_filter) by the low 16 bits. A nonzero entry exits before the instruction. No
//   instruction of the check touches a flag or faults (AT&T syntax):
//
//     mov  rcx, %gs:SPILL          lea  OPERAND, rcx
//     movzx cx, ecx                movzx %gs:FILTER(rcx), ecx
//     jrcxz CLEAR                  jmp  STUB                 the stub reloads rcx, then ExitReason::breakpoint
//     CLEAR:                       mov  %gs:SPILL, rcx
//
// The filter is coarse, and accesses that it cannot classify (strings, segments, wide areas) always leave the block.
// The engine then compares the exact addresses, executes the instruction by itself in a block of one
// (kSingleInstruction), and calls the agent before and after it (engine/dispatch.cpp).
//
// Code is shared by the threads of a process: a breakpoint of one thread stops all, the filter is per thread.
#include "engine/x86_64/decode/effective_address.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

void Translation::end_before_breakpoint() {
    if (!instrumentation_.code.any()) return;
    std::uint64_t address = decoded_.pc;
    for (std::size_t i = 0; i < decoded_.count; ++i) {
        if (i != 0 && instrumentation_.holds(address)) {
            decoded_.count = i;
            decoded_.end = address;
            return;
        }
        address += decoded_.instructions[i].length;
    }
}

void Translation::emit_breakpoint() {
    block_->instructions = 0;
    mark(decoded_.count = 0, Mark::kNone);
    if (const ExitId id = new_exit(decoded_.pc); id != 0) emit_breakpoint_exit(id);
}

/// Exits before the instruction, whatever it accesses.
void Translation::emit_breakpoint_exit(ExitId to) {
    hot_.jmp(exit_stub(ExitReason::breakpoint, to));
}

/// rcx is spilled and holds the address of the access. Both ways reload it.
void Translation::emit_filter_lookup(ExitId to) {
    hot_.movzx16(rcx, rcx);
    hot_.movzx8_gs(rcx, rcx, offsetof(Thread, watchpoint_filter));
    std::uint8_t* const clear = hot_.jrcxz_forward();
    std::uint8_t* const stub = cold_.at();
    cold_.load_gs(rcx, offsetof(Thread, spill) + std::size_t{8} * rcx);
    exit_stub(ExitReason::breakpoint, to);
    hot_.jmp(stub);
    hot_.bind(clear);
    unspill(rcx);
}

/// Whether lea with the instruction's own operand gives the address of all bytes it accesses: not with a segment base,
/// nor with EVEX's disp8*N, nor if the size is unknown or exceeds what one filter entry covers.
bool Translation::can_filter_operand(const Instruction& instruction, const std::uint8_t* code) const {
    return instruction.modrm_offset != 0 && instruction.segment == Segment::none &&
           !has_compressed_displacement(instruction, code) && instruction.operand_bytes != 0 &&
           instruction.operand_bytes <= kWidestFiltered;
}

namespace {

/// push, pop, call and ret: their address is rsp or just below it.
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

/// Instructions that run in place never come to a check; the kernel, not the instruction, accesses memory in a syscall.
bool can_stop_before(const Instruction& instruction) {
    return !runs_in_place(instruction) && instruction.control != Control::syscall;
}

}  // namespace

void Translation::emit_access_check(const Instruction& instruction, std::uint64_t address) {
    const bool is_watched_kind =
        (instrumentation_.loads && instruction.reads_memory) || (instrumentation_.stores && instruction.writes_memory);
    if (!is_watched_kind || !can_stop_before(instruction)) return;
    const ExitId to = new_exit(address);
    if (to == 0) return;
    const std::uint8_t* const code = bytes_at(address);
    const bool named = instruction.reads_operand || instruction.writes_operand;
    const bool stack = is_stack_access(instruction);
    if ((instruction.implied_bytes != 0 && !stack) || (named && !can_filter_operand(instruction, code)))
        return emit_breakpoint_exit(to);
    if (named) {
        spill(rcx);
        load_effective_address(instruction, address, rcx);
        if (const std::int32_t popped = popped_bytes(instruction, code); popped != 0) hot_.lea(rcx, rcx, popped);
        emit_filter_lookup(to);
    }
    if (stack) {
        const bool writes = instruction.writes_memory && !instruction.writes_operand;
        spill(rcx);
        hot_.lea(rcx, rsp, writes ? -std::int32_t{instruction.implied_bytes} : 0);
        emit_filter_lookup(to);
    }
}

}  // namespace anyperf::engine::x86_64

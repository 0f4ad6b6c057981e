// count_exact.cpp: the cells of exact counts (engine/exact/state.h).
//
// The prologue of a segment ends with an addition to the segment's cell. `add` sets the flags, so where they are alive
// the sum goes through a borrowed register, as in count.cpp. Each segment has a cell of its own, so that additions
// seldom wait for each other; only a loop of one segment adds to the same cell each time.
//
// A direct call needs no code: it ends a segment, so the segment's cell counts it. An indirect call appends its target
// and its block to a list of the thread. When the list is full the branch exits by the lookup miss, and the engine
// counts the list (engine/exact/exact.h). An indirect jump through a rip-relative operand does the same, because the
// linker's stubs reach functions of other libraries by such jumps. Other indirect jumps are mostly those of a `switch`.
#include "engine/exact/area.h"
#include "engine/x86_64/translate/indirect_entry.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

using run::exact::AreaHeader;
using run::exact::IndirectCall;

constexpr std::size_t kPosition = kAreaOffset + offsetof(AreaHeader, position);
constexpr std::size_t kSavedScratch = kAreaOffset + offsetof(AreaHeader, saved);
constexpr std::size_t kSavedTarget = kSavedScratch + sizeof(std::uint64_t);
constexpr std::size_t kCallsEnd = kAreaOffset + run::exact::kCellsOffset;

run::exact::BlockEnd end_of(const Instruction& last) {
    switch (last.control) {
        case Control::call: return run::exact::BlockEnd::call;
        case Control::call_indirect:
        case Control::jump_indirect: return run::exact::BlockEnd::indirect;
        default: return run::exact::BlockEnd::other;
    }
}

}  // namespace

/// Records what the cells of this block count.
void Translation::take_exact_cells() {
    if (decoded_.count == 0) return;
    run::exact::Record record{};
    run::exact::Length lengths[kLongestBlock] = {};
    record.kind = run::exact::RecordKind::block;
    record.instructions = static_cast<std::uint8_t>(decoded_.count);
    record.pc = decoded_.pc;
    std::uint32_t cells = 0;
    bool begins_segment = true;
    for (std::size_t i = 0; i < decoded_.count; ++i) {
        const Instruction& instruction = decoded_.instructions[i];
        lengths[i].bytes = instruction.length & 15u;
        lengths[i].by_itself = runs_in_place(instruction);
        lengths[i].begins_segment = begins_segment;
        cells += begins_segment ? 1 : 0;
        begins_segment = instruction.control != Control::none;
    }
    const Instruction& last = decoded_.instructions[decoded_.count - 1];
    record.end = end_of(last);
    if (last.control == Control::call) record.target = branch_target(last, decoded_.end - last.length);
    std::uint64_t code = mixed(0, exact_->epoch);
    for (std::uint64_t at = decoded_.pc; at < decoded_.end; ++at) code = mixed(code, *bytes_at(at));
    block_->cells = exact_->cell_for(record, cells, lengths, code) & 0xffffffu;
}

void Translation::emit_exact_count(std::size_t first, std::uint64_t pc) {
    const std::size_t cell = offset_of_cell(block_->cells + exact_segments_++);
    if (flags_are_dead(cache_.executable, pc, kFlagDepth, {&decoded_, first})) {
        hot_.add_gs(cell, 1);
        return;
    }
    const Register reg = next_scratch();
    spill(reg);
    hot_.load_gs(reg, cell);
    hot_.lea(reg, reg, 1);
    hot_.store_gs(reg, cell);
    unspill(reg);
}

bool Translation::counts_target(const Instruction& instruction) const {
    return block_->cells != 0 && (instruction.control == Control::call_indirect || instruction.rip_relative);
}

/// Appends the call that is about to be made. kTargetRegister has its target; the scratch register keeps its value.
/// Between this and finish_exact_call() comes the jump by the target. Returns the operand of a short jump, which is
/// taken if the list is full. POSITION counts up from a negative number to 0, relative to the list's END (AT&T syntax):
///
///   mov  rcx, %gs:TARGET         mov  r11, %gs:SCRATCH         mov  %gs:POSITION, r11
///   mov  rcx, %gs:END(r11)       movq $CELL, %gs:END+8(r11)    the entry: target and block
///   lea  16(r11), rcx            mov  rcx, %gs:POSITION        mov  %gs:SCRATCH, r11
///   jrcxz FULL
///   mov  %gs:TARGET, rcx         …the jump by the target…
///   FULL:                        mov  %gs:TARGET, rcx          jmp  *%gs:EXIT_ROUTINE[lookup_miss]
std::uint8_t* Translation::emit_exact_call() {
    hot_.store_gs(kTargetRegister, kSavedTarget);
    hot_.store_gs(kScratchRegister, kSavedScratch);
    hot_.load_gs(kScratchRegister, kPosition);
    hot_.store_gs_at(kTargetRegister, kScratchRegister, kCallsEnd + offsetof(IndirectCall, target));
    hot_.mov_gs_at(kScratchRegister, kCallsEnd + offsetof(IndirectCall, site), block_->cells);
    hot_.lea(kTargetRegister, kScratchRegister, sizeof(IndirectCall));
    hot_.store_gs(kTargetRegister, kPosition);
    hot_.load_gs(kScratchRegister, kSavedScratch);
    static_assert(kTargetRegister == rcx, "jrcxz tests the position");
    std::uint8_t* const full = hot_.jrcxz_forward();
    hot_.load_gs(kTargetRegister, kSavedTarget);
    return full;
}

void Translation::finish_exact_call(std::uint8_t* full) {
    hot_.bind(full);
    hot_.load_gs(kTargetRegister, kSavedTarget);
    hot_.jmp_gs(offsetof(Thread, exit_routine) + 8 * static_cast<std::size_t>(ExitReason::lookup_miss));
}

}  // namespace anyperf::engine::x86_64

// translate.cpp: the order of a block's parts, and its records.
//
// One pass over the decoded instructions; nothing is moved later. No branch leads from the translation of one
// instruction to that of another: a conditional branch leaves the block by a stub in the cold part.
#include "engine/x86_64/translate/translate.h"

#include <limits>

#include "engine/cache/packed_marks.h"
#include "engine/x86_64/translate/indirect_entry.h"
#include "engine/x86_64/translate/steps.h"

namespace anyperf::engine::x86_64 {

/// Fills the mark of the instruction that has its translation from here on; index == count is the end of the block.
void Translation::mark(std::size_t index, std::uint8_t spilled) {
    const bool is_end = index >= decoded_.count;
    // Of the leg of a path the engine asks how it ended.
    const ClassSet classes = !is_end && (marks_count_ || path_leg_) ? counted_in_advance(index) : ClassSet{0};
    const InstructionCost cost = classes != 0 ? costs_[index] : InstructionCost{};
    // Written at once: a read of bit fields that were written by parts waits for the writes, 4 % of gcc -c.
    Mark mark;
    mark.host = static_cast<std::uint16_t>(hot_.at() - block_->host);
    mark.guest_length = is_end ? 0 : decoded_.instructions[index].length;
    mark.lent = (index <= lent_until_ ? lent_ : rsp) & 7u;
    mark.spilled = spilled;
    mark.set_classes(classes);
    mark.cost = cost.cost & 511u;
    mark.busy = cost.busy & 15u;
    marks_[index] = mark;
}

/// Ends the block after a conditional branch if the code that follows has a translation already, so that it is not
/// translated twice. The lookups are prefetched first: the table of a large program is in no CPU cache.
void Translation::end_before_translated() {
    std::uint64_t address = decoded_.pc;
    for (std::size_t i = 0; i + 1 < decoded_.count; ++i) {
        address += decoded_.instructions[i].length;
        if (decoded_.instructions[i].control != Control::none) cache_.prefetch(address);
    }
    address = decoded_.pc;
    for (std::size_t i = 0; i + 1 < decoded_.count; ++i) {
        address += decoded_.instructions[i].length;
        if (decoded_.instructions[i].control == Control::none || cache_.find(address) == nullptr) continue;
        decoded_.count = i + 1;
        decoded_.end = address;
    }
}

/// The instructions of a shorter block cost what they cost in the ordinary one.
void Translation::decode_instructions(std::uint16_t limit) {
    const bool whole = limit == 0 || path_leg_;
    const std::size_t most = single_instruction_ ? 1 : whole ? kLongestBlock : limit & ~kTurnEnd;
    decode_block(code_, needs_costs() ? kLongestBlock : most, decoded_, cache_.presented, limit == 0 && pairs());
    compute_costs();
    for (; decoded_.count > most; --decoded_.count) decoded_.end -= decoded_.instructions[decoded_.count - 1].length;
}

/// The address of the instruction after that of `index`, which is at `address`.
std::uint64_t Translation::address_after(std::size_t index, std::uint64_t address) const {
    for (std::size_t i = 1; i < piece_count_; ++i)
        if (pieces_[i].first == index + 1) return pieces_[i].pc();
    return address + decoded_.instructions[index].length;
}

/// The leg of a path ends with its first branch.
void Translation::end_leg() {
    std::uint64_t address = decoded_.pc;
    for (std::size_t i = 0; i < decoded_.count; ++i) {
        address += decoded_.instructions[i].length;
        if (decoded_.instructions[i].control == Control::none) continue;
        decoded_.count = i + 1;
        decoded_.end = address;
    }
}

/// Decodes the block and allocates its records. False if there is no instruction, or no record left. Successive blocks
/// begin with different lanes, see kLanes in run/live_counters.h.
bool Translation::begin_block(std::uint16_t limit) {
    single_instruction_ = limit == kSingleInstruction;
    path_leg_ = limit == kPathLeg;
    decode_instructions(limit);
    if (decoded_.count == 0) return false;
    if (!single_instruction_) end_before_breakpoint();
    end_after_unpaired_call();
    path_leg_ ? end_leg() : end_before_translated();
    id_ = cache_.blocks.allocate();
    if (id_ == 0) return false;
    block_ = &cache_.blocks[id_];
    *block_ = {};
    block_->pc = code_.pc;
    block_->limit = limit;
    lane_ = limit != 0 ? 0 : id_ % run::kLanes;
    block_->lane = lane_ & 7u;
    block_->recorded = counting_.recording;
    block_->instructions = static_cast<std::uint8_t>(decoded_.count);
    block_->guest_bytes = (decoded_.end - code_.pc) & kMostGuestBytes;
    return true;
}

/// Packs the marks into a record, after the pieces of a trace. False if there is no room.
bool Translation::keep_marks() {
    constexpr std::size_t kPieceBytes = sizeof(TracePiece);
    constexpr std::size_t kNumberBytes = sizeof(std::uint32_t);
    std::array<std::uint8_t, kMostMarks * kMostMarkBytes> packed;
    const std::size_t bytes = pack_marks({marks_.data(), block_->instructions + 1u}, packed.data());
    const std::size_t pieces = is_trace() ? (piece_count_ + 1) * kPieceBytes : 0;
    const std::size_t number_bytes = block_->recorded ? kNumberBytes : 0;
    const std::size_t room = bytes + (is_trace() ? pieces + kPieceBytes - 1 : 0) + number_bytes;
    const std::uint32_t number = cache_.marks.allocate(static_cast<std::uint32_t>(room));
    if (number == 0) return false;
    std::uint8_t* at = &cache_.marks[number];
    if (is_trace()) at += -address_of(at) % kPieceBytes;
    if (block_->recorded) __builtin_memcpy(at, &first_recorded_, kNumberBytes);
    at += number_bytes;
    block_->marks = at;
    __builtin_memcpy(at, pieces_.data(), pieces);
    __builtin_memcpy(at + pieces, packed.data(), bytes);
    return true;
}

/// A register that has to get its value back at once. Where the program does not write to it, each use of it waits
/// for the one before: its value goes through memory. So the uses take turns.
Register Translation::next_scratch() {
    constexpr Register kTurns[] = {rcx, r8, rdx, r9, r10, r11};
    Register reg = rsp;
    do reg = kTurns[(id_ + scratches_++) % std::size(kTurns)];
    while (reg == history_);
    return reg;
}

void Translation::emit_instructions() {
    std::uint64_t address = decoded_.pc;
    bool begins_segment = true;
    if (exact_ != nullptr) take_exact_cells();
    emit_heat();
    emit_steps_of_trace();
    begin_history();
    for (std::size_t i = 0; i < decoded_.count; ++i) {
        const Instruction& instruction = decoded_.instructions[i];
        const bool last = i + 1 == decoded_.count;
        if (begins_segment) {
            emit_prologue(i, address);
            if (block_->cells != 0) emit_exact_count(i, address);
        }
        // The mark is written twice: emit_plain() and its kind find out only while they write which registers they
        // borrow.
        spilled_ = Mark::kNone;
        mark(i, Mark::kNone);
        marks_[i].begins_segment = begins_segment;
        const bool ends_segment = instruction.control != Control::none;
        resolving_ = costs_[i].resolving;
        if (!single_instruction_) emit_access_check(instruction, address);
        if (!begins_segment) continue_in_part(i, address);
        emit_captures(i, false);
        if (!ends_segment)
            emit_plain(instruction, address);
        else if (last)
            emit_block_end(instruction, address);
        else if (is_trace())
            emit_trace_branch(i, address, address_after(i, address));
        else if (is_call(instruction))
            emit_paired_call(instruction, address);
        else
            emit_side_exit(instruction, address);
        marks_[i].spilled = spilled_;
        if (!ends_segment) emit_captures(i, true);
        if (is_trace() && i + 2 == decoded_.count) end_path();
        begins_segment = ends_segment && !counts_once();
        address = address_after(i, address);
    }
    mark(decoded_.count, Mark::kNone);
    if (!decoded_.ends_in_control()) emit_direct_exit(address);
    emit_call_tails();
    emit_trace_exits();
}

void Translation::relocate(const Emitter& code, RelocationKind kind, const std::uint8_t* field, std::uint64_t value,
                           std::size_t rest) {
    if (relocations_ == nullptr) return;
    const bool in_cold = &code == &cold_;
    const auto small = static_cast<std::int32_t>(value);
    if (static_cast<std::int64_t>(value) != small) return relocations_->give_up();
    relocations_->add({static_cast<std::uint16_t>(field - (in_cold ? relocations_->cold : block_->host)), kind, in_cold,
                       static_cast<std::uint8_t>(rest & 127u), small});
}

/// Notes what the whole block depends on. Bytes after it that could not be decoded have ended it.
void Translation::finish_relocations() {
    if (relocations_ == nullptr) return;
    relocations_->cold_bytes = static_cast<std::size_t>(cold_.at() - relocations_->cold);
    const std::uint64_t more = decoded_.ends_in_control() ? 0 : kLongestInstruction;
    relocations_->read.add(decoded_.pc, decoded_.end - decoded_.pc + more);
}

Block* Translation::run(const CodeBytes& code, std::uint16_t limit, bool indirect_entry) {
    code_ = code;
    return begin_block(limit) ? emit_block(indirect_entry) : nullptr;
}

/// Emits the code that charges a step, which falls through to the block.
void Translation::emit_step_entry() {
    const bool flags_dead = flags_are_dead(cache_.executable, decoded_.pc, kFlagDepth, tail_from(0));
    block_->has_step_entry = 1;
    block_->long_step_entry = flags_dead ? 0 : 1;
    emit_step_charge(hot_, cold_, arena_, id_, 1, flags_dead);
}

/// Emits the block, whose instructions and records are there.
Block* Translation::emit_block(bool indirect_entry) {
    // Indirect branches to an address after a call make no step, but others to it do.
    if (cache_.charges_steps && block_->limit == 0) block_->follows_call = follows_call(code_.pc) ? 1 : 0;
    const bool after_call = block_->follows_call != 0;
    const bool steps =
        cache_.charges_steps && block_->limit == 0 && (entered_by_step_ || (indirect_entry && !after_call));
    if (indirect_entry && !(steps && after_call)) {
        block_->indirect_entry = cache_.new_indirect_entry(code_.pc);
        if (block_->indirect_entry == 0) return nullptr;
        emit_indirect_entry(cache_, block_->indirect_entry, hot_, cold_);
    }
    if (steps) emit_step_entry();
    block_->host = hot_.at();
    if (relocations_ != nullptr) {
        relocations_->begin();
        relocations_->cold = cold_.at();
    }
    if (!single_instruction_ && instrumentation_.holds(code_.pc))
        emit_breakpoint();
    else
        emit_instructions();
    // On failure the records allocated here are lost until a flush; the arena's room is not, because nothing was
    // committed.
    const bool too_long = hot_.at() - block_->host > std::numeric_limits<std::uint16_t>::max();
    if (hot_.overflowed() || cold_.overflowed() || out_of_records_ || too_long || !keep_marks()) return nullptr;
    block_->host_bytes = static_cast<std::uint16_t>(hot_.at() - block_->host);
    arena_.commit(id_, hot_.at(), cold_.at());
    finish_relocations();
    return block_;
}

}  // namespace anyperf::engine::x86_64

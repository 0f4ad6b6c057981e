// count.cpp: the prologue that counts a segment before it is executed.
//
// What a segment adds to all classes is a tuple, and the thread has a word for it at %gs (run/tuple_counts.h). Its
// prologue, where the flags are dead, nearly everywhere:
//
//   65 48 ff 04 25 WORD          inc  %gs:WORD                 9 bytes, no register
//
// Elsewhere no flag may change. R is a register that the segment overwrites before it reads it, so it need not get its
// value back:
//
//   65 48 89 .. 25 LENT          mov  R, %gs:LENT              31 bytes
//   65 48 8b .. 25 WORD          mov  %gs:WORD, R
//   48 8d .. 01                  lea  1(R), R
//   65 48 89 .. 25 WORD          mov  R, %gs:WORD
//
// Until the segment has overwritten R the application's value is in Thread::lent, and the marks of these instructions
// say so (Mark::lent); recover.h puts it back when the thread is stopped there. A segment that has no such register
// borrows one and reloads it. A tuple without a word of its own adds to several words in the same way.
//
// In a process with budgets (live_counters.h) the instructions are not in the tuple but charged to a lane, first of all
// (lane_charge.h). If they do not fit, the thread leaves by ExitReason::budget before the segment has any effect.
//
// Faults: a prologue does not fault. A signal in the middle of it is delivered at the next instruction's start: before
// the word is written the segment has not been counted, and afterwards it runs. If a segment is left in the middle,
// recover.h takes back what did not retire.
#include <algorithm>

#include "engine/x86_64/translate/lane_charge.h"
#include "engine/x86_64/translate/segment.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

static_assert(kLongestBlock <= std::size_t{1} << kFirstBits);
static_assert(kClassCount <= kCostRow && kFrontendRow < run::kCounters);

/// Registers that a prologue can lend: those that three bits can name.
constexpr RegisterSet kLendable = 0xff & ~(1u << rsp);

/// Adds what an instruction of these classes adds.
void add_amounts(run::Tuple& tuple, ClassSet classes) {
    for (ClassSet rest = classes & kEveryClass; rest != 0; rest &= rest - 1) {
        const auto row = static_cast<std::size_t>(__builtin_ctz(rest));
        tuple.amount[row] = static_cast<std::uint8_t>(tuple.amount[row] + amount_of(classes, row));
    }
}

}  // namespace

ClassSet counted_at_start(const Instruction& instruction) {
    if (runs_in_place(instruction)) return 0;
    const bool conditional = instruction.control == Control::conditional || instruction.control == Control::rcx_branch;
    return conditional ? instruction.classes & ~bit(Class::taken) : instruction.classes;
}

/// What the segment that begins with instruction `first` adds to each class. Instructions are always counted.
run::Tuple Translation::tuple_of(std::size_t first) const {
    run::Tuple tuple{};
    const std::size_t end = counted_end(first);
    const ClassSet open = counting_.open | bit(Class::instructions) | kCountsTwice;
    std::size_t cost = 0;
    std::size_t busy = 0;
    for (std::size_t i = first; i < end; ++i) {
        const ClassSet counted = counted_in_advance(i) & open;
        add_amounts(tuple, counted);
        if (counted == 0) continue;
        cost += costs_[i].cost;
        busy += costs_[i].busy;
    }
    // A segment of 64 instructions that all cost the most fits.
    static_assert(kMostCost * kLongestBlock / kLongCost <= run::kLargestAmount + 1);
    tuple.amount[kCostRow] = static_cast<std::uint8_t>(cost % kLongCost);
    tuple.amount[kLongCostRow] =
        static_cast<std::uint8_t>(std::min<std::size_t>(cost / kLongCost, run::kLargestAmount));
    tuple.amount[kBusyRow] = static_cast<std::uint8_t>(std::min<std::size_t>(busy, 0xff));
    return tuple;
}

void Translation::compute_costs() {
    if (!needs_costs()) {
        for (std::size_t i = 0; i < decoded_.count; ++i) costs_[i] = {};
        return;
    }
    std::uint64_t address = decoded_.pc;
    for (std::size_t first = 0; first < decoded_.count;) {
        const std::size_t end = decoded_.segment_end(first);
        cost_segment(decoded_, first, end, bytes_at(address), *counting_.machine, costs_);
        for (; first < end; ++first) {
            if (!counts_cost()) costs_[first].cost = costs_[first].busy = 0;
            address = address_after(first, address);
        }
    }
}

/// Consecutive segments use different lanes (kLanes in live_counters.h). A block with a limit stays in lane 0, which
/// then has the whole rest of the budget. A segment whose instructions all run in place counts nothing in advance and
/// has no prologue.
void Translation::emit_prologue(std::size_t first, std::uint64_t pc) {
    plan_.capture_count = plan_.next_capture = 0;
    plan_.segment = 0;
    lent_ = rsp;
    if (!counting_.on()) return;
    run::Tuple tuple = tuple_of(first);
    std::uint8_t& instructions = tuple.amount[static_cast<std::size_t>(Class::instructions)];
    if (instructions == 0) return;
    block_->counted = counting_.open;
    block_->budgeted = counting_.budgeted;
    if (counting_.recording) plan_recording(first, pc, loaded_by(first));
    const bool flags_dead = flags_are_dead(cache_.executable, pc, kFlagDepth, tail_from(first), code_read());
    if (first != 0 && block_->limit == 0) lane_ = (lane_ + 1) % run::kLanes;
    const std::uint32_t budget_payload = encode_segment(id_, first, lane_);
    if (counting_.budgeted) {
        emit_charge(instructions, flags_dead, budget_payload);
        instructions = 0;
    }
    if (counting_.recording) begin_part(first, pc, flags_dead, budget_payload);
    emit_additions(additions_of(tuple), flags_dead, first);
}

/// If the segment does not fit, the budget becomes negative, and on_budget() in dispatch.cpp undoes the charge.
void Translation::emit_charge(std::int32_t instructions, bool flags_dead, std::uint32_t budget_payload) {
    const std::uint8_t* const stub = exit_stub(ExitReason::budget, budget_payload);
    emit_lane_charge(hot_, lane_offset(lane_), instructions, flags_dead, stub);
    relocate_to_cold(stub);
}

/// Chooses the register that the segment's prologue lends (lent_, lent_until_): the first that an instruction
/// overwrites and none before it touches. That instruction must not leave the block, and nothing may look at the
/// registers in between: checks of accesses exit there, and the models are fed with registers.
bool Translation::lend_register(std::size_t first) {
    if (single_instruction_ || counting_.recording || instrumentation_.loads || instrumentation_.stores) return false;
    RegisterSet untouched = kLendable;
    for (std::size_t i = first; i < decoded_.count && untouched != 0; ++i) {
        const Instruction& instruction = decoded_.instructions[i];
        if (instruction.control != Control::none || instruction.segment == Segment::gs) return false;
        const unsigned overwritten = untouched & instruction.overwritten & ~unsigned{instruction.read};
        if (overwritten != 0) {
            lent_ = static_cast<Register>(__builtin_ctz(overwritten));
            lent_until_ = i;
            return true;
        }
        untouched &= static_cast<RegisterSet>(~instruction.touched);
    }
    return false;
}

/// The words of the tuple, and those of what is read by rdpmc. In a process with budgets the latter are not used. What
/// exceeds an amount of a tuple, as a segment of 64 multiply-adds does, goes to the counter's own word.
WordAdditions Translation::additions_of(const run::Tuple& tuple) {
    static_assert(2 * kLongestBlock <= 0xff);
    WordAdditions words;
    run::Tuple within = tuple;
    for (std::size_t row = 0; row < run::kCounters; ++row) {
        if (tuple.amount[row] <= run::kLargestAmount) continue;
        within.amount[row] = run::kLargestAmount;
        words.add(word_offset(row), tuple.amount[row] - static_cast<std::int32_t>(run::kLargestAmount));
    }
    const auto use = is_trace() ? TupleTable::Use::trace : TupleTable::Use::block;
    const Additions additions = tuples_.additions_of(within, use);
    for (std::size_t i = 0; i < additions.count; ++i) {
        const Additions::Part& part = additions.part[i];
        words.add(word_offset(part.word), part.amount, note_word(part.word));
    }
    if (counting_.budgeted) return words;
    if (counting_.sums.count != 0) refuse_to_relocate();
    for (std::size_t i = 0; i < counting_.sums.count; ++i) {
        std::int32_t amount = 0;
        for (std::size_t row = 0; row < run::kCounters; ++row)
            amount += counting_.sums.sum[i].weight_of(row) * tuple.amount[row];
        if (amount != 0) words.add(readable_offset(i), amount);
    }
    return words;
}

void Translation::emit_additions(const WordAdditions& additions, bool flags_dead, std::size_t first) {
    if (additions.count == 0) return;
    if (!flags_dead && lend_register(first)) {
        hot_.store_gs(lent_, offsetof(Thread, lent));
        return emit_additions_in(lent_, additions);
    }
    emit_additions(additions, flags_dead);
}

/// The same where no register can be lent.
void Translation::emit_additions(const WordAdditions& additions, bool flags_dead) {
    if (!flags_dead) {
        const Register reg = next_scratch();
        spill(reg);
        emit_additions_in(reg, additions);
        return unspill(reg);
    }
    for (std::size_t i = 0; i < additions.count; ++i) {
        const WordAdditions::One& word = additions.one[i];
        if (word.amount == 1)
            hot_.inc_gs(word.offset);
        else
            hot_.add_gs(word.offset, word.amount);
        relocate_word(word);
    }
}

/// Adds without changing a flag; `reg` is lost.
void Translation::emit_additions_in(Register reg, const WordAdditions& additions) {
    for (std::size_t i = 0; i < additions.count; ++i) {
        const WordAdditions::One& word = additions.one[i];
        hot_.load_gs(reg, word.offset);
        relocate_word(word);
        hot_.lea(reg, reg, word.amount);
        hot_.store_gs(reg, word.offset);
        relocate_word(word);
    }
}

void Translation::emit_taken_count(std::uint64_t target) {
    if ((counting_.open & bit(Class::taken)) == 0) return;
    run::Tuple taken{};
    taken.amount[static_cast<std::size_t>(Class::taken)] = 1;
    emit_additions(additions_of(taken), flags_are_dead(cache_.executable, target, kFlagDepth, {}, code_read()));
}

/// Counts an instruction that its segment's prologue does not count (runs_in_place()). Precondition: no budgets.
void Translation::emit_count_alone(const Instruction& instruction, bool flags_dead) {
    run::Tuple tuple{};
    add_amounts(tuple, instruction.classes & (counting_.open | bit(Class::instructions) | kCountsTwice));
    if (counts_cost()) {
        const InstructionCost alone = cost_alone(instruction, *counting_.machine);
        tuple.amount[kCostRow] = alone.cost % kLongCost;
        tuple.amount[kLongCostRow] = static_cast<std::uint8_t>(alone.cost / kLongCost);
        tuple.amount[kBusyRow] = static_cast<std::uint8_t>(alone.busy);
    }
    emit_additions(additions_of(tuple), flags_dead);
}

}  // namespace anyperf::engine::x86_64

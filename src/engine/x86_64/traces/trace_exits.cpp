// trace_exits.cpp: ways out of a trace before its end.
//
// Without counting, a conditional branch is the exit itself, as in any block. With counting the trace's prologue has
// counted all of it, so an exit subtracts what has not run. That code follows the trace, where no mark leads:
//
//   EXIT:  add  $-1, %gs:WORD       of the tuple that has not run; or -N for each class, if that tuple has no word. If
//                                   the flags are live at the target: by lea (count.cpp)
//          add  $N, %gs:LANE        in a process with budgets: the instructions that have not run
//          jmp  TARGET              a direct exit
//
// It does not fault. A signal that finds a thread there is delivered at the next instruction's start, in another block.
#include "engine/x86_64/translate/predict.h"
#include "engine/x86_64/translate/steps.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

bool Translation::is_taken_in_trace(std::size_t index) const {
    if (decoded_.instructions[index].control != Control::conditional) return false;
    for (std::size_t i = 1; i < piece_count_; ++i)
        if (pieces_[i].first == index + 1) return true;
    return false;
}

/// The classes of an instruction that a prologue counts.
ClassSet Translation::counted_in_advance(std::size_t index) const {
    const ClassSet classes = counted_at_start(decoded_.instructions[index]);
    return counts_once() && is_taken_in_trace(index) ? classes | bit(Class::taken) : classes;
}

void Translation::leave_trace_if(Condition condition, TraceExit exit) {
    if (exits_apart()) {
        exit.operand = hot_.jcc_far_forward(static_cast<std::uint8_t>(condition));
        trace_exits_[trace_exit_count_++] = exit;
        return;
    }
    const ExitId id = new_exit(exit.target, exit.makes_step);
    if (id == 0) return;
    align_operand(2);
    hot_.jcc(condition, unlinked_stub(id, hot_.at() + 2));
}

void Translation::leave_trace(TraceExit exit) {
    if (!exits_apart()) return emit_direct_exit(exit.target, exit.makes_step);
    exit.operand = hot_.jmp_far_forward();
    trace_exits_[trace_exit_count_++] = exit;
}

/// What an exit adds to each counter: less than nothing, except for a branch that is taken.
TraceAmounts Translation::correction_of(const TraceExit& exit) const {
    TraceAmounts amount{};
    const ClassSet open = counting_.open | bit(Class::instructions) | kCountsTwice;
    for (std::size_t i = exit.rest; i < decoded_.count; ++i) {
        const ClassSet counted = counted_in_advance(i) & open;
        for (ClassSet rest = counted & kEveryClass; rest != 0; rest &= rest - 1) {
            const auto row = static_cast<std::size_t>(__builtin_ctz(rest));
            amount[row] -= static_cast<std::int32_t>(amount_of(counted, row));
        }
        if (counted == 0) continue;
        amount[kCostRow] -= static_cast<std::int32_t>(costs_[i].cost);
        amount[kBusyRow] -= static_cast<std::int32_t>(costs_[i].busy);
    }
    if ((open & bit(Class::taken)) != 0) amount[static_cast<std::size_t>(Class::taken)] += exit.taken;
    return amount;
}

/// One subtraction if there is a word for the tuple that has not run. Otherwise one for each counter. In a process with
/// budgets the instructions that have not run go back to a lane: the sum of all lanes is what counts.
WordAdditions Translation::additions_of_exit(TraceAmounts amount) {
    WordAdditions words;
    if (counting_.budgeted) {
        std::int32_t& instructions = amount[static_cast<std::size_t>(Class::instructions)];
        if (instructions != 0) words.add(lane_offset(lane_), -instructions);
        instructions = 0;
    }
    run::Tuple rest{};
    bool fits = true;
    for (std::size_t row = 0; row < run::kCounters; ++row) {
        fits = fits && amount[row] <= 0 && amount[row] >= -static_cast<std::int32_t>(run::kLargestAmount);
        if (fits) rest.amount[row] = static_cast<std::uint8_t>(-amount[row]);
    }
    const Additions known = fits ? tuples_.additions_of(rest, TupleTable::Use::trace_exit) : Additions{};
    for (std::size_t i = 0; i < known.count; ++i)
        words.add(word_offset(known.part[i].word), -std::int32_t{known.part[i].amount});
    for (std::size_t row = 0; known.count == 0 && row < run::kCounters; ++row)
        if (amount[row] != 0) words.add(word_offset(row), amount[row]);
    if (counting_.budgeted) return words;
    for (std::size_t i = 0; i < counting_.sums.count; ++i) {
        std::int32_t sum = 0;
        for (std::size_t row = 0; row < run::kCounters; ++row)
            sum += counting_.sums.sum[i].weight_of(row) * amount[row];
        if (sum != 0) words.add(readable_offset(i), sum);
    }
    return words;
}

void Translation::emit_trace_exits() {
    // As for the tails of calls: the byte before them makes the end of the trace's marks a place of its own.
    if (trace_exit_count_ != 0) hot_.trap();
    for (std::size_t i = 0; i < trace_exit_count_; ++i) {
        const TraceExit& exit = trace_exits_[i];
        hot_.bind_far(exit.operand);
        // Not the lane that the trace has charged just before: the addition would wait for that.
        lane_ = (lane_ + 1) % run::kLanes;
        history_ = exit.history ? history_register(block_->lane) : rsp;
        if (exit.branch != 0) {
            resolving_ = exit.resolving;
            predict_conditional(exit.branch, exit.target, exit.taken > 0);
        }
        end_history();
        settle_predicted_returns(exit.calls);
        settle_open_calls(exit.calls);
        WordAdditions additions;
        if (counts_once()) additions = additions_of_exit(correction_of(exit));
        if (exit.steps != 0) additions.add(step_offset(id_), static_cast<std::int32_t>(exit.steps));
        emit_additions(additions, flags_are_dead(cache_.executable, exit.target, kFlagDepth));
        emit_direct_exit(exit.target, exit.makes_step);
    }
}

}  // namespace anyperf::engine::x86_64

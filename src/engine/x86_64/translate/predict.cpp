// predict.cpp: branch predictors in translated code.
//
// The code does what models/branches says, on the same tables, which are in Thread::predictors. It runs as part of the
// branch: after its direction or target is known, and before the next segment. So a read of the counts after the
// branch includes it, and a branch that faults has changed nothing.
//
// A conditional branch, on each of its ways (AT&T syntax; WAY is that of models::Sites, STRONG the counter's last value
// in this direction):
//
//   testb $WAY|BOTHBIT, %gs:SITE      jz   OTHER                never seen, or seen the other way only
//   jns   DONE                                                  it has gone this way only
//   mov   R, %gs:SPILL                movzwl %gs:HISTORY, R
//   cmpb  $STRONG, %gs:COUNTERS+S(R)                  jne  WEAK
//   STRONG:  lea PATH(,R,4), R        mov  R, %gs:HISTORY         16 bits, if it is taken
//   mov   %gs:SPILL, R
//   DONE:
//
// In a trace that knows what its sites have seen, the first two lines are missing for those that have gone both ways,
// and for the others all but one line is in the cold part.
//
// OTHER and WEAK are in the cold part: they change the site or the counter, and count what was mispredicted. If a flag
// may be read later, lahf and sahf are around all this. Calls, returns and indirect branches use no flag: what is
// predicted is kept inverted, so that it and the target add up to -1.
#include "engine/x86_64/translate/predict.h"

#include <sys/mman.h>

#include "engine/freestanding/kernel.h"
#include "engine/x86_64/translate/indirect_entry.h"
#include "engine/x86_64/translate/translate.h"

namespace anyperf::engine::x86_64 {

namespace {

using models::Branches;
using models::Gshare;
using models::IndirectTargets;
using models::Quantity;
using models::ReturnStack;
using models::Sites;

constexpr std::size_t kTables = offsetof(Thread, predictors);
constexpr std::size_t kModelled =
    offsetof(Thread, page) + offsetof(run::ThreadPage, counters) + offsetof(run::LiveCounters, modelled);
/// Keeps the target of an indirect branch while rcx is used. A lookup miss writes it again.
constexpr std::size_t kTarget = offsetof(Thread, missed_target);

constexpr std::size_t count_offset(Quantity quantity) {
    return kModelled + sizeof(std::uint64_t) * static_cast<std::size_t>(quantity);
}

/// The offset of a place of the predictors in the Thread.
constexpr std::size_t at(std::size_t place) {
    return kTables + place;
}

constexpr std::uint8_t way_bit(bool taken) {
    return taken ? Sites::kTaken : Sites::kNotTaken;
}

constexpr std::uint8_t kStrongTaken = 1;
constexpr std::uint8_t kStrongNotTaken = 0xfe;  // -2

}  // namespace

void clear_predictors(Thread& thread) {
    const std::uint64_t start = address_of(thread.predictors);
    // The pages are private and anonymous, so the kernel gives new ones; it refuses for locked memory.
    const std::uint64_t whole = sizeof thread.predictors & ~std::uint64_t{4095};
    const bool given_back = !is_error(kernel_call(__NR_madvise, start, whole, MADV_DONTNEED));
    const std::uint64_t from = given_back ? whole : 0;
    auto* const bytes = reinterpret_cast<std::uint8_t*>(thread.predictors);
    for (std::uint64_t i = from; i < sizeof thread.predictors; ++i) bytes[i] = 0;
}

/// What a misprediction adds. Its cycles are a part of the cost of what has run (count_stalls() in
/// modelling/drain.cpp).
WordAdditions Translation::misprediction_of(Quantity quantity) const {
    const std::int32_t penalty = counting_.machine->latencies.misprediction + resolving_;
    const std::int32_t cost = penalty * static_cast<std::int32_t>(kCostUnits);
    WordAdditions words;
    words.add(count_offset(quantity), 1);
    if (penalty == 0) return words;
    words.add(count_offset(Quantity::misprediction_stalls), penalty);
    words.add(word_offset(kFrontendRow), cost);
    for (std::size_t i = 0; i < counting_.sums.count; ++i)
        if (const std::int32_t weight = counting_.sums.sum[i].weight_of(kFrontendRow); weight != 0)
            words.add(readable_offset(i), weight * cost);
    return words;
}

/// Counts a misprediction in the cold part, where the flags may change, and goes on at `next`. The code is the same for
/// all threads of the process, so those that are not modelled predict, too, but do not count.
void Translation::count_conditional_misprediction(const std::uint8_t* next) {
    cold_.cmp_gs8(offsetof(Thread, counts_mispredictions), 0);
    cold_.jcc(Condition::equal, next);
    const WordAdditions words = misprediction_of(Quantity::conditional_mispredictions);
    for (std::size_t i = 0; i < words.count; ++i) cold_.add_gs(words.one[i].offset, words.one[i].amount);
    cold_.jmp(next);
}

/// The same without a flag; rcx is lost.
void Translation::count_misprediction(Quantity quantity, const std::uint8_t* next) {
    cold_.load_gs(rcx, offsetof(Thread, counts_mispredictions));
    std::uint8_t* const is_not_modelled = cold_.jrcxz_forward();
    std::uint8_t* const is_modelled = cold_.jmp_far_forward();
    cold_.bind(is_not_modelled);
    cold_.jmp(next);
    cold_.bind_far(is_modelled);
    const WordAdditions words = misprediction_of(quantity);
    for (std::size_t i = 0; i < words.count; ++i) {
        cold_.load_gs(rcx, words.one[i].offset);
        cold_.lea(rcx, rcx, words.one[i].amount);
        cold_.store_gs(rcx, words.one[i].offset);
    }
    cold_.jmp(next);
}

Translation::PredictedWay Translation::predicted_way(std::uint64_t address, std::uint64_t next, bool taken) const {
    const models::BranchUnit& unit = counting_.machine->branches;
    const Branches::Places places = Branches::places(unit);
    const std::uint64_t place = cache_.fixed_places.of(address);
    return {.site = at(places.sites + Sites::index_of(unit.site_bits, place)),
            .counter = at(places.direction + Gshare::site(unit.table_bits, place)),
            .path = Gshare::path(place, place + (next - address)),
            .taken = taken};
}

/// What the branch's site has seen, in a trace that may rely on it. 0: nothing, or it is not known.
std::uint8_t Translation::seen(const PredictedWay& way) const {
    const std::size_t sites = at(Branches::places(counting_.machine->branches).sites);
    return directions_ == nullptr ? std::uint8_t{0} : directions_[way.site - sites];
}

/// One way of the conditional branch at `address`, which leads to `next`: code that runs once it has gone there. A
/// branch to the instruction after it counts as not taken, on both ways. `tail`: the instructions from `next` on, if
/// the block has them.
void Translation::predict_conditional(std::uint64_t address, std::uint64_t next, bool taken, DecodedTail tail) {
    if (!counting_.predicting) return;
    const PredictedWay way = predicted_way(address, next, taken);
    const bool flags_dead = flags_are_dead(cache_.executable, next, kFlagDepth, tail, code_read());
    if (!flags_dead) {
        spill(rax);
        hot_.save_flags();
    }
    const std::uint8_t before = seen(way);
    if (before == Sites::kBoth) {
        emit_counter(hot_, way);
    } else if (before == way_bit(taken)) {
        emit_known_one_way(way);
    } else {
        hot_.test_gs8(way.site, way_bit(taken) | Sites::kBothBit);
        std::uint8_t* const other = hot_.jcc_far_forward(static_cast<std::uint8_t>(Condition::equal));
        std::uint8_t* const one_way = hot_.jcc_far_forward(static_cast<std::uint8_t>(Condition::no_sign));
        emit_counter(hot_, way);
        hot_.bind_far(one_way);
        emit_first_direction(other, way.site, taken, hot_.at());
    }
    if (flags_dead) return;
    hot_.restore_flags();
    unspill(rax);
}

/// Where the site has always gone this way, as far as is known:
///
///   testb $WAY|BOTHBIT, %gs:SITE      jle  OTHER      DONE:
///   OTHER:  je  FIRST     what a counter needs     jmp  DONE
void Translation::emit_known_one_way(const PredictedWay& way) {
    hot_.test_gs8(way.site, way_bit(way.taken) | Sites::kBothBit);
    std::uint8_t* const other = hot_.jcc_far_forward(static_cast<std::uint8_t>(Condition::less_or_equal));
    const std::uint8_t* const done = hot_.at();
    hot_.bind_far(other, cold_.at());
    std::uint8_t* const first = cold_.jcc_far_forward(static_cast<std::uint8_t>(Condition::equal));
    emit_counter(cold_, way);
    cold_.jmp(done);
    emit_first_direction(first, way.site, way.taken, done);
}

/// Looks up the counter and trains it if it is not at the end of its range.
void Translation::emit_counter(Emitter& code, const PredictedWay& way) {
    const std::size_t history = at(Branches::places(counting_.machine->branches).history);
    const bool has_history = history_ != rsp;
    const Register reg = has_history ? history_ : marks_conditional(way.taken) ? rcx : next_scratch();
    const std::size_t slot = offsetof(Thread, spill) + std::size_t{8} * reg;
    if (!has_history) {
        code.store_gs(reg, slot);
        code.movzx16_gs(reg, history);
    }
    code.cmp_gs8_at(reg, way.counter, way.taken ? kStrongTaken : kStrongNotTaken);
    // The training is written after what is in the cold part already.
    std::uint8_t* const weak = code.jcc_far_forward(static_cast<std::uint8_t>(Condition::not_equal));
    const std::uint8_t* const trained = code.at();
    if (way.taken) {
        static_assert(Gshare::kShift == 2);
        code.lea32_by_four(reg, reg, way.path);
        has_history ? code.movzx16(reg, reg) : code.store_gs16(reg, history);
    }
    if (!has_history) code.load_gs(reg, slot);
    if (&code == &hot_) return emit_training(weak, reg, way.counter, way.taken, trained);
    std::uint8_t* const over = cold_.jmp_far_forward();
    emit_training(weak, reg, way.counter, way.taken, trained);
    cold_.bind_far(over);
}

/// In the cold part: the first branch of a site, or its first that goes the other way, which is mispredicted.
void Translation::emit_first_direction(std::uint8_t* from, std::size_t site, bool taken, const std::uint8_t* done) {
    constexpr std::size_t kSavedRcx = offsetof(Thread, spill) + std::size_t{8} * rcx;
    hot_.bind_far(from, cold_.at());
    cold_.cmp_gs8(site, 0);
    std::uint8_t* const changes = cold_.jcc_forward(static_cast<std::uint8_t>(Condition::not_equal));
    cold_.mov_gs8(site, way_bit(taken));
    cold_.jmp(done);
    cold_.bind(changes);
    cold_.mov_gs8(site, Sites::kBoth);
    if (marks_conditional(taken)) {
        cold_.store_gs(rcx, kSavedRcx);
        mark_conditional(taken);
        cold_.load_gs(rcx, kSavedRcx);
    }
    count_conditional_misprediction(done);
}

/// In the cold part: a counter that is not at the end of its range in this direction. It was wrong if it is on the
/// other side of its range. `reg` has the history.
void Translation::emit_training(std::uint8_t* from, Register reg, std::size_t counter, bool taken,
                                const std::uint8_t* trained) {
    hot_.bind_far(from, cold_.at());
    if (taken) {
        cold_.inc_gs8_at(reg, counter);  // -2 to 0 become -1 to 1
        cold_.jcc(Condition::greater, trained);
    } else {
        cold_.dec_gs8_at(reg, counter);  // 1 to -1 become 0 to -2
        cold_.cmp_gs8_at(reg, counter, kStrongNotTaken);
        cold_.jcc(Condition::equal, trained);
    }
    if (marks_conditional(taken)) {
        mark_conditional(taken);
        cold_.load_gs32(rcx, at(Branches::places(counting_.machine->branches).history));
    }
    count_conditional_misprediction(trained);
}

// A trace keeps gshare's history in a register that none of its instructions touches, if there is one. The register's
// own value is in Thread::lent_to_history from the trace's start to its last instruction, or to its exit. If a thread
// is stopped in between, leave_history() in recover.cpp puts both back.

// A trace that is a loop does not leave the register: its last branch leads past the code that loads it. While a turn
// is charged, the start of a trace may lead to the engine, so no loop goes there.

/// Whether the last instruction, a direct branch, leads to the trace's start.
bool Translation::ends_in_loop() const {
    const std::size_t last = decoded_.count - 1;
    const Control control = decoded_.instructions[last].control;
    if (cache_.charges_steps || (control != Control::conditional && control != Control::jump)) return false;
    std::uint64_t address = decoded_.pc;
    for (std::size_t i = 0; i < last; ++i) address = address_after(i, address);
    return branch_target(decoded_.instructions[last], address) == decoded_.pc;
}

/// Chooses the register, if some branch before the last instruction would use it, or one that closes a loop.
void Translation::choose_history_register() {
    history_ = rsp;
    if (!counting_.predicting || decoded_.count < 2) return;
    RegisterSet touched = 0;
    bool has_branch = decoded_.instructions[decoded_.count - 1].control == Control::conditional && ends_in_loop();
    for (std::size_t i = 0; i < decoded_.count; ++i) {
        touched |= decoded_.instructions[i].touched;
        has_branch |= decoded_.instructions[i].control == Control::conditional && i + 1 < decoded_.count;
    }
    for (std::size_t i = 1; has_branch && i < std::size(kHistoryRegisters); ++i) {
        if ((touched >> kHistoryRegisters[i] & 1) != 0) continue;
        history_ = kHistoryRegisters[i];
        return;
    }
}

void Translation::begin_history() {
    if (history_ == rsp) return;
    hot_.store_gs(history_, offsetof(Thread, lent_to_history));
    hot_.movzx16_gs(history_, at(Branches::places(counting_.machine->branches).history));
}

void Translation::end_history() {
    if (history_ == rsp) return;
    hot_.store_gs16(history_, at(Branches::places(counting_.machine->branches).history));
    hot_.load_gs(history_, offsetof(Thread, lent_to_history));
}

/// A direct branch that has gone to `target`. If that is the start of the trace, control stays in its loop: a jump that
/// is linked to it, and otherwise leads to what follows.
void Translation::emit_loop(std::uint64_t target) {
    if (history_ == rsp || target != block_->pc || !ends_in_loop()) return;
    const ExitId id = new_exit(target);
    if (id == 0) return;
    align_operand(1);
    std::uint8_t* const operand = hot_.at() + 1;
    constexpr std::int32_t kOperandBytes = sizeof(std::int32_t);
    hot_.jmp(operand + kOperandBytes);
    Exit& exit = cache_.exits[id];
    exit.operand = static_cast<std::uint16_t>(operand - block_->host);
    exit.stub = kOperandBytes;
    exit.set_loop();
}

/// In front of a trace's last instruction, unless that is a direct branch, which has the history until it has gone one
/// way.
void Translation::end_predictions_of_trace() {
    const Control last = decoded_.instructions[decoded_.count - 1].control;
    if (last == Control::conditional || last == Control::rcx_branch || last == Control::jump) return;
    end_history();
    history_ = rsp;
}

void set_history(Thread& thread, std::uint64_t history) {
    static_assert(Branches::places(models::BranchUnit{}).history == 0);
    auto* const bytes = reinterpret_cast<std::uint8_t*>(thread.predictors);
    *reinterpret_cast<std::uint32_t*>(bytes) = static_cast<std::uint32_t>(history & 0xffff);
}

/// A call pushes its return address onto the predictor's ring. `reg` is lost.
///
///   mov %gs:TOP, R     lea STEP(R), R     movzx R, R     mov R, %gs:TOP     movl $~RETURN, %gs:RING(R)
void Translation::push_predicted_return(Register reg, std::uint64_t return_address) {
    const models::BranchUnit& unit = counting_.machine->branches;
    const std::size_t ring = at(Branches::places(unit).returns);
    hot_.load_gs32(reg, ring + offsetof(ReturnStack::Ring, top));
    hot_.lea32(reg, reg, static_cast<std::int32_t>(ReturnStack::step(unit.return_entries)));
    hot_.movzx8(reg, reg);
    hot_.store_gs32(reg, ring + offsetof(ReturnStack::Ring, top));
    hot_.mov_gs32_at(reg, ring + offsetof(ReturnStack::Ring, addresses), models::kept_target(return_address));
}

void Translation::predict_call(std::uint64_t return_address) {
    if (!counting_.predicting) return;
    const Register reg = next_scratch();
    spill(reg);
    push_predicted_return(reg, return_address);
    unspill(reg);
}

// In a trace the ring's position stays that of the trace's start while calls have not returned. So a call and its
// return in the trace need no chain through memory: the call only writes its address, and the return needs no code, as
// it always leads to what the call has written. In front of the trace's last instruction, and in its exits, the
// position is brought up to date. If a thread is stopped in the middle of a trace, push_predicted_returns() does that.

/// A call in a trace, after open_calls_ has counted it. `reg` is lost.
///
///   mov %gs:TOP, R     lea STEP*CALLS(R), R     movzx R, R     movl $~RETURN, %gs:RING(R)
void Translation::predict_call_in_trace(Register reg, std::uint64_t return_address) {
    const models::BranchUnit& unit = counting_.machine->branches;
    const std::size_t ring = at(Branches::places(unit).returns);
    hot_.load_gs32(reg, ring + offsetof(ReturnStack::Ring, top));
    hot_.lea32(reg, reg, open_calls_ * static_cast<std::int32_t>(ReturnStack::step(unit.return_entries)));
    hot_.movzx8(reg, reg);
    hot_.mov_gs32_at(reg, ring + offsetof(ReturnStack::Ring, addresses), models::kept_target(return_address));
}

void Translation::predict_direct_call_in_trace(std::uint64_t return_address) {
    const Register reg = next_scratch();
    spill(reg);
    predict_call_in_trace(reg, return_address);
    unspill(reg);
}

/// `calls` of the trace have not returned.
void Translation::settle_predicted_returns(std::int32_t calls) {
    if (!counting_.predicting || calls == 0) return;
    const models::BranchUnit& unit = counting_.machine->branches;
    const std::size_t top = at(Branches::places(unit).returns) + offsetof(ReturnStack::Ring, top);
    const Register reg = next_scratch();
    spill(reg);
    hot_.load_gs32(reg, top);
    hot_.lea32(reg, reg, calls * static_cast<std::int32_t>(ReturnStack::step(unit.return_entries)));
    hot_.movzx8(reg, reg);
    hot_.store_gs32(reg, top);
    unspill(reg);
}

void push_predicted_returns(Thread& thread, const models::BranchUnit& unit, std::uint32_t calls) {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(thread.predictors);
    auto& ring = *reinterpret_cast<ReturnStack::Ring*>(bytes + Branches::places(unit).returns);
    ring.top = (ring.top + calls * ReturnStack::step(unit.return_entries)) % ReturnStack::kWholeRing;
}

/// Compares the prediction in r11 with the target in rcx. Both are lost, and the target is in kTarget. Returns the
/// operand of a jump to bind at the code for a misprediction, which is to be written into the cold part.
///
///   mov rcx, %gs:TARGET     lea 1(rcx,r11), ecx     jrcxz RIGHT     jmp WRONG     RIGHT:
std::uint8_t* Translation::compare_prediction() {
    hot_.store_gs(kTargetRegister, kTarget);
    hot_.lea32_sum(kTargetRegister, kTargetRegister, kScratchRegister, 1);
    std::uint8_t* const right = hot_.jrcxz_forward();
    std::uint8_t* const wrong = hot_.jmp_far_forward();
    hot_.bind(right);
    return wrong;
}

/// A return to the address in rcx. r11 is spilled.
void Translation::predict_return() {
    if (!counting_.predicting) return;
    const models::BranchUnit& unit = counting_.machine->branches;
    const std::size_t ring = at(Branches::places(unit).returns);
    constexpr std::size_t kTop = offsetof(ReturnStack::Ring, top);
    hot_.load_gs32(kScratchRegister, ring + kTop);
    hot_.load_gs32_at(kScratchRegister, kScratchRegister, ring + offsetof(ReturnStack::Ring, addresses));
    std::uint8_t* const wrong = compare_prediction();
    const std::uint8_t* const compared = hot_.at();
    hot_.load_gs32(kScratchRegister, ring + kTop);
    hot_.lea32(kScratchRegister, kScratchRegister, -static_cast<std::int32_t>(ReturnStack::step(unit.return_entries)));
    hot_.movzx8(kScratchRegister, kScratchRegister);
    hot_.store_gs32(kScratchRegister, ring + kTop);
    hot_.load_gs(kTargetRegister, kTarget);

    hot_.bind_far(wrong, cold_.at());
    if (records(branch::kReturn)) mark_mispredicted();
    count_misprediction(Quantity::return_mispredictions, compared);
}

/// An indirect jump or call, which `kind` says, to the address in rcx. r11 is spilled.
void Translation::predict_indirect(std::uint64_t address, std::uint8_t kind) {
    if (!counting_.predicting) return;
    const models::BranchUnit& unit = counting_.machine->branches;
    const Branches::Places places = Branches::places(unit);
    const std::size_t history = at(places.target_history);
    const std::size_t targets =
        at(places.targets + std::size_t{IndirectTargets::kEntryBytes} *
                                IndirectTargets::site(unit.target_bits, cache_.fixed_places.of(address)));
    static_assert(IndirectTargets::kEntryBytes == 4 && IndirectTargets::kHintFactor == 9U * 4 * 4);
    static_assert(kTargetRegister == rcx);
    hot_.load_gs32(kScratchRegister, history);
    hot_.load_gs32_at(kScratchRegister, kScratchRegister, targets);
    std::uint8_t* const wrong = compare_prediction();
    const std::uint8_t* const compared = hot_.at();
    hot_.load_gs(kTargetRegister, kTarget);
    hot_.lea32_ecx_by_nine();
    hot_.lea32_by_four(rcx, rcx, 0);
    hot_.lea32_by_four(rcx, rcx, 0);
    hot_.movzx_ch();  // IndirectTargets::hint()
    hot_.load_gs32(kScratchRegister, history);
    hot_.lea32_ecx_and_twice(kScratchRegister);
    hot_.lea32_by_four(kScratchRegister, rcx, 0);
    hot_.movzx16(kScratchRegister, kScratchRegister);
    hot_.store_gs32(kScratchRegister, history);
    hot_.load_gs(kTargetRegister, kTarget);

    hot_.bind_far(wrong, cold_.at());
    cold_.load_gs(kTargetRegister, kTarget);
    cold_.not32(kTargetRegister);
    cold_.load_gs32(kScratchRegister, history);
    cold_.store_gs32_at(kTargetRegister, kScratchRegister, targets);
    if (records(kind)) mark_mispredicted();
    count_misprediction(Quantity::indirect_mispredictions, compared);
}

}  // namespace anyperf::engine::x86_64

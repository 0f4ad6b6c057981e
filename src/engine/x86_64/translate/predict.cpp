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
//   mov   rcx, %gs:SPILL              mov  %gs:HISTORY, ecx
//   cmpb  $STRONG, %gs:COUNTERS+S(rcx)                jne  WEAK
//   STRONG:  lea PATH(,rcx,4), ecx    movzx cx, ecx   mov  ecx, %gs:HISTORY         if it is taken
//   mov   %gs:SPILL, rcx
//   DONE:
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

/// One way of the conditional branch at `address`, which leads to `next`: code that runs once it has gone there. A
/// branch to the instruction after it counts as not taken, on both ways. `tail`: the instructions from `next` on, if
/// the block has them.
void Translation::predict_conditional(std::uint64_t address, std::uint64_t next, bool taken, DecodedTail tail) {
    if (!counting_.predicting) return;
    const models::BranchUnit& unit = counting_.machine->branches;
    const Branches::Places places = Branches::places(unit);
    const std::uint64_t place = cache_.fixed_places.of(address);
    const std::size_t site = at(places.sites + Sites::index_of(unit.site_bits, place));
    const std::size_t counter = at(places.direction + Gshare::site(unit.table_bits, place));
    const std::uint8_t way = taken ? Sites::kTaken : Sites::kNotTaken;
    const bool flags_dead = flags_are_dead(cache_.executable, next, kFlagDepth, tail, code_pages());
    if (!flags_dead) {
        spill(rax);
        hot_.save_flags();
    }
    hot_.test_gs8(site, way | Sites::kBothBit);
    std::uint8_t* const other = hot_.jcc_far_forward(static_cast<std::uint8_t>(Condition::equal));
    std::uint8_t* const one_way = hot_.jcc_forward(static_cast<std::uint8_t>(Condition::no_sign));
    spill(rcx);
    hot_.load_gs32(rcx, at(places.history));
    hot_.cmp_gs8_at(rcx, counter, taken ? kStrongTaken : kStrongNotTaken);
    std::uint8_t* const weak = hot_.jcc_far_forward(static_cast<std::uint8_t>(Condition::not_equal));
    const std::uint8_t* const trained = hot_.at();
    if (taken) {
        static_assert(Gshare::kShift == 2);
        hot_.lea32_by_four(rcx, rcx, Gshare::path(place, place + (next - address)));
        hot_.movzx16(rcx, rcx);
        hot_.store_gs32(rcx, at(places.history));
    }
    unspill(rcx);
    hot_.bind(one_way);
    const std::uint8_t* const done = hot_.at();
    if (!flags_dead) {
        hot_.restore_flags();
        unspill(rax);
    }
    emit_first_direction(other, site, taken, done);
    emit_training(weak, counter, taken, trained);
}

/// In the cold part: the first branch of a site, or its first that goes the other way, which is mispredicted.
void Translation::emit_first_direction(std::uint8_t* from, std::size_t site, bool taken, const std::uint8_t* done) {
    constexpr std::size_t kSavedRcx = offsetof(Thread, spill) + std::size_t{8} * rcx;
    hot_.bind_far(from, cold_.at());
    cold_.cmp_gs8(site, 0);
    std::uint8_t* const changes = cold_.jcc_forward(static_cast<std::uint8_t>(Condition::not_equal));
    cold_.mov_gs8(site, taken ? Sites::kTaken : Sites::kNotTaken);
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
/// other side of its range.
void Translation::emit_training(std::uint8_t* from, std::size_t counter, bool taken, const std::uint8_t* trained) {
    hot_.bind_far(from, cold_.at());
    if (taken) {
        cold_.inc_gs8_at(rcx, counter);  // -2 to 0 become -1 to 1
        cold_.jcc(Condition::greater, trained);
    } else {
        cold_.dec_gs8_at(rcx, counter);  // 1 to -1 become 0 to -2
        cold_.cmp_gs8_at(rcx, counter, kStrongNotTaken);
        cold_.jcc(Condition::equal, trained);
    }
    if (marks_conditional(taken)) {
        mark_conditional(taken);
        cold_.load_gs32(rcx, at(Branches::places(counting_.machine->branches).history));
    }
    count_conditional_misprediction(trained);
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
    spill(rcx);
    push_predicted_return(rcx, return_address);
    unspill(rcx);
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

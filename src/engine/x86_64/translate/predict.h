// predict.h: which branch predictors translated code can model itself (predict.cpp). The others are fed with records of
// segments (record_accesses.cpp).
#pragma once

#include <bit>

#include "engine/x86_64/cpu/registers.h"
#include "engine/x86_64/cpu/thread.h"
#include "models/machine.h"

namespace anyperf::engine::x86_64 {

/// The code needs no mask where a history has 16 bits, and a ring of returns 256 bytes: movzx ends them there.
constexpr bool can_predict_in_code(const models::BranchUnit& unit) {
    constexpr unsigned kWordBits = 16;
    return unit.predictor == models::Predictor::gshare && unit.table_bits == kWordBits + 1 &&
           models::IndirectTargets::history_mask(unit.target_bits) == 0xffff &&
           std::has_single_bit(unsigned{unit.return_entries}) && models::Branches::words(unit) <= kPredictorWords;
}
static_assert(can_predict_in_code(models::BranchUnit{}));

/// Which register has gshare's history in a trace, as Block::lane says. Each is one that traces often leave alone.
/// rsp: none, which is 0.
inline constexpr Register kHistoryRegisters[] = {rsp, r11, r10, r9, r8, rdi, rsi, rdx};
constexpr Register history_register(unsigned number) {
    return kHistoryRegisters[number];
}
constexpr std::uint8_t history_number(Register reg) {
    std::uint8_t number = 0;
    while (kHistoryRegisters[number] != reg) ++number;
    return number & 7u;
}

/// Empties the predictors of a thread. The caller is that thread.
void clear_predictors(Thread& thread);
/// A thread is stopped in a trace that has made so many calls which have not returned.
void push_predicted_returns(Thread& thread, const models::BranchUnit& unit, std::uint32_t calls);
/// Likewise, and this is the history that it has then.
void set_history(Thread& thread, std::uint64_t history);

}  // namespace anyperf::engine::x86_64

// predict.h: which branch predictors translated code can model itself (predict.cpp). The others are fed with records of
// segments (record_accesses.cpp).
#pragma once

#include <bit>

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

/// Empties the predictors of a thread. The caller is that thread.
void clear_predictors(Thread& thread);

}  // namespace anyperf::engine::x86_64

// branch_unit.h: the branch predictors of one core.
//
// The direction predictor, gshare or TAGE, is asked only about conditional branches that have gone both ways (sites.h).
// gshare's history is of all taken branches, TAGE's of the outcomes of the branches that it is asked about.
#pragma once

#include <cstddef>
#include <cstdint>

#include "models/branches/gshare.h"
#include "models/branches/sites.h"
#include "models/branches/tage.h"
#include "models/branches/targets.h"
#include "models/machine.h"
#include "models/quantities.h"

namespace anyperf::models {

/// It uses memory of the caller: words(geometry) words, all 0, which outlive it. Each function takes a branch that has
/// retired. Those that return bool count a misprediction and return whether there was one.
class Branches {
  public:
    Branches(const BranchUnit& geometry, Counts& counts, std::uint64_t* memory);
    Branches(const Branches&) = delete;
    Branches& operator=(const Branches&) = delete;

    static std::size_t words(const BranchUnit& geometry);

    /// @param target where the branch goes if it is taken
    bool conditional(std::uint64_t address, std::uint64_t target, bool taken);
    void jump(std::uint64_t address, std::uint64_t target);
    bool indirect_jump(std::uint64_t address, std::uint64_t target);
    void call(std::uint64_t address, std::uint64_t target, std::uint64_t return_address);
    bool indirect_call(std::uint64_t address, std::uint64_t target, std::uint64_t return_address);
    bool ret(std::uint64_t address, std::uint64_t target);

    /// For generated code that predicts conditional branches itself; null if the machine has no gshare.
    Gshare* gshare() { return tage_ == nullptr ? &gshare_ : nullptr; }
    const Sites& sites() const { return sites_; }
    std::uint64_t* conditional_mispredictions() {
        return &counts_.values[static_cast<std::size_t>(Quantity::conditional_mispredictions)];
    }

  private:
    void note_taken(std::uint64_t from, std::uint64_t to);
    bool count(Quantity quantity, bool wrong);

    Counts& counts_;
    Sites sites_;
    Gshare gshare_;
    Tage* tage_ = nullptr;  ///< null if the machine has gshare
    IndirectTargets targets_;
    ReturnStack returns_;
};

}  // namespace anyperf::models

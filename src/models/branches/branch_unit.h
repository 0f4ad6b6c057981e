// branch_unit.h: the branch predictors of one core.
//
// The direction predictor, gshare or TAGE, is asked only about conditional branches that have gone both ways (sites.h).
// gshare's history is of those of them that were taken, TAGE's of the outcomes of all of them. Direct jumps are always
// right, and change nothing.
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

    static constexpr std::size_t words(const BranchUnit& geometry);

    /// Where the parts are in the memory, in bytes, for generated code.
    struct Places {
        std::size_t history;         ///< of gshare
        std::size_t target_history;  ///< of the indirect targets
        std::size_t returns;         ///< a ReturnStack::Ring
        std::size_t sites;
        std::size_t direction;  ///< gshare's counters, or a Tage
        std::size_t targets;
        std::size_t end;
    };
    static constexpr Places places(const BranchUnit& geometry);

    /// @param target where the branch goes if it is taken
    bool conditional(std::uint64_t address, std::uint64_t target, bool taken);
    bool indirect_jump(std::uint64_t address, std::uint64_t target);
    void call(std::uint64_t return_address);
    bool indirect_call(std::uint64_t address, std::uint64_t target, std::uint64_t return_address);
    bool ret(std::uint64_t target);

    /// For generated code that predicts conditional branches itself; null if the machine has no gshare.
    Gshare* gshare() { return tage_ == nullptr ? &gshare_ : nullptr; }
    const Sites& sites() const { return sites_; }
    std::uint64_t* conditional_mispredictions() {
        return &counts_.values[static_cast<std::size_t>(Quantity::conditional_mispredictions)];
    }

  private:
    bool count(Quantity quantity, bool wrong);

    Counts& counts_;
    Sites sites_;
    Gshare gshare_;
    Tage* tage_ = nullptr;  ///< null if the machine has gshare
    IndirectTargets targets_;
    ReturnStack returns_;
};

constexpr Branches::Places Branches::places(const BranchUnit& geometry) {
    constexpr auto round_up = [](std::size_t bytes) { return (bytes + 7) / 8 * 8; };
    const bool tage = geometry.predictor == Predictor::tage;
    Places places{};
    places.target_history = sizeof(std::uint32_t);
    places.returns = places.target_history + sizeof(std::uint32_t);
    places.sites = round_up(places.returns + sizeof(ReturnStack::Ring));
    places.direction = places.sites + round_up(Sites::bytes(geometry.site_bits));
    places.targets = places.direction + round_up(tage ? sizeof(Tage) : Gshare::bytes(geometry.table_bits));
    places.end = places.targets + IndirectTargets::entries(geometry.target_bits) * sizeof(std::uint32_t);
    return places;
}

constexpr std::size_t Branches::words(const BranchUnit& geometry) {
    return (places(geometry).end + 7) / 8;
}

}  // namespace anyperf::models

// branch_unit.cpp: which part predicts a branch, and in which order the parts learn.
//
// A prediction must not use what the branch itself has added. So the predictor is asked first, and then the branch
// enters the history. Each call pushes its return address, whether or not its target was predicted.
#include "models/branches/branch_unit.h"

#include <memory>

namespace anyperf::models {

Branches::Branches(const BranchUnit& geometry, Counts& counts, std::uint64_t* memory) : counts_(counts) {
    auto* const bytes = reinterpret_cast<std::uint8_t*>(memory);
    const auto words_at = [bytes](std::size_t place) { return reinterpret_cast<std::uint32_t*>(bytes + place); };
    const Places at = places(geometry);
    sites_ = Sites(geometry.site_bits, bytes + at.sites);
    if (geometry.predictor == Predictor::tage)
        // Tage's first state is not all zeros (its generator starts at 1), so it needs a constructor.
        tage_ = std::construct_at(reinterpret_cast<Tage*>(bytes + at.direction));
    else
        gshare_ = Gshare(geometry.table_bits, bytes + at.direction, words_at(at.history));
    targets_ = IndirectTargets(geometry.target_bits, words_at(at.targets), words_at(at.target_history));
    returns_ = ReturnStack(geometry.return_entries, reinterpret_cast<ReturnStack::Ring*>(bytes + at.returns));
}

// A branch that has gone one way only is hidden from the predictor: no counter and no history has it.
bool Branches::conditional(std::uint64_t address, std::uint64_t target, bool taken) {
    const Sites::Look site = sites_.note(address, taken);
    bool wrong = site.mispredicted;
    if (site.kind == Sites::Kind::both_ways) {
        // Tage keeps its history of outcomes itself.
        wrong = tage_ != nullptr ? tage_->mispredicts(address, taken) : gshare_.mispredicts(address, taken);
        if (taken && tage_ == nullptr) gshare_.note_taken(address, target);
    }
    return count(Quantity::conditional_mispredictions, wrong);
}

bool Branches::indirect_jump(std::uint64_t address, std::uint64_t target) {
    return count(Quantity::indirect_mispredictions, targets_.mispredicts(address, target));
}

void Branches::call(std::uint64_t return_address) {
    returns_.call(return_address);
}

bool Branches::indirect_call(std::uint64_t address, std::uint64_t target, std::uint64_t return_address) {
    returns_.call(return_address);
    return indirect_jump(address, target);
}

// A return is predicted by the return stack alone; its target does not enter the history of indirect targets.
bool Branches::ret(std::uint64_t target) {
    return count(Quantity::return_mispredictions, returns_.mispredicts(target));
}

bool Branches::count(Quantity quantity, bool wrong) {
    if (wrong) counts_.add(quantity);
    return wrong;
}

}  // namespace anyperf::models

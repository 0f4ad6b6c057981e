// branch_unit.cpp: which part predicts a branch, and in which order the parts learn.
//
// A prediction must not use what the branch itself has added. So the predictor is asked first, and then the branch
// enters the history. Each call pushes its return address, whether or not its target was predicted.
#include "models/branches/branch_unit.h"

#include <memory>

namespace anyperf::models {

namespace {

constexpr std::size_t words_of_bytes(std::size_t bytes) {
    return (bytes + 7) / 8;
}

/// The words of the direction predictor. TAGE has one size; gshare's is a field of the machine.
std::size_t direction_words(const BranchUnit& geometry) {
    return words_of_bytes(geometry.predictor == Predictor::tage ? sizeof(Tage) : Gshare::bytes(geometry.table_bits));
}

}  // namespace

std::size_t Branches::words(const BranchUnit& geometry) {
    return words_of_bytes(Sites::bytes(geometry.site_bits)) + direction_words(geometry) +
           IndirectTargets::words(geometry.target_bits);
}

// The caller's memory is laid out as sites, direction predictor, targets of indirect branches: as words() adds them up.
Branches::Branches(const BranchUnit& geometry, Counts& counts, std::uint64_t* memory)
    : counts_(counts),
      sites_(geometry.site_bits, reinterpret_cast<std::uint8_t*>(memory)),
      returns_(geometry.return_entries) {
    std::uint64_t* const direction = memory + words_of_bytes(Sites::bytes(geometry.site_bits));
    if (geometry.predictor == Predictor::tage)
        // Tage's first state is not all zeros (its generator starts at 1), so it needs a constructor.
        tage_ = std::construct_at(reinterpret_cast<Tage*>(direction));
    else
        gshare_ = Gshare(geometry.table_bits, reinterpret_cast<std::uint8_t*>(direction));
    targets_ = IndirectTargets(geometry.target_bits, direction + direction_words(geometry));
}

// A branch that has gone one way only is hidden from the predictor: no counter and no history of TAGE has it. Only the
// history of gshare gets it, if it is taken.
bool Branches::conditional(std::uint64_t address, std::uint64_t target, bool taken) {
    const Sites::Look site = sites_.note(address, taken);
    bool wrong = site.mispredicted;
    if (site.kind == Sites::Kind::both_ways)
        wrong = tage_ != nullptr ? tage_->mispredicts(address, taken) : gshare_.mispredicts(address, taken);
    if (taken) note_taken(address, target);
    return count(Quantity::conditional_mispredictions, wrong);
}

void Branches::jump(std::uint64_t address, std::uint64_t target) {
    note_taken(address, target);
}

bool Branches::indirect_jump(std::uint64_t address, std::uint64_t target) {
    const bool wrong = targets_.mispredicts(address, target);
    note_taken(address, target);
    return count(Quantity::indirect_mispredictions, wrong);
}

void Branches::call(std::uint64_t address, std::uint64_t target, std::uint64_t return_address) {
    returns_.call(return_address);
    note_taken(address, target);
}

bool Branches::indirect_call(std::uint64_t address, std::uint64_t target, std::uint64_t return_address) {
    returns_.call(return_address);
    return indirect_jump(address, target);
}

// A return is predicted by the return stack alone; its target does not enter the history of indirect targets.
bool Branches::ret(std::uint64_t address, std::uint64_t target) {
    note_taken(address, target);
    return count(Quantity::return_mispredictions, returns_.mispredicts(target));
}

// Tage keeps its history of outcomes itself. Only gshare has a history of taken branches.
void Branches::note_taken(std::uint64_t from, std::uint64_t to) {
    if (tage_ == nullptr) gshare_.note_taken(from, to);
}

bool Branches::count(Quantity quantity, bool wrong) {
    if (wrong) counts_.add(quantity);
    return wrong;
}

}  // namespace anyperf::models

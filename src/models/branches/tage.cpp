// tage.cpp: the algorithm of the paper that tage.h names. Names follow it: the *provider* is the table that predicts,
// the *alternate* is what would predict without it.
#include "models/branches/tage.h"

namespace anyperf::models {

using namespace tage;

namespace {
constexpr std::uint8_t kMostUseful = 3;
constexpr std::uint32_t kAllocationsBetweenForgetting = 1U << 18;
}  // namespace

bool Tage::mispredicts(std::uint64_t address, bool taken) {
    const Look found = look(address);
    const bool wrong = choose(found) != taken;
    train(found, taken);
    if (wrong) allocate(found, taken);
    push(taken);
    return wrong;
}

// An index and a tag are both hashes of the address and of the folded history. They use different folds, so that two
// branches that share an index rarely share a tag. The tag combines two folds, of which one is a bit shorter.
Tage::Look Tage::look(std::uint64_t address) const {
    Look look{};
    const auto mixed_address = static_cast<std::uint32_t>(address ^ address >> 13);
    look.base = mixed_address % base_.size();
    look.alternate_says = base_[look.base].taken();
    for (unsigned i = 0; i < kTables; ++i) {
        look.index[i] =
            (mixed_address ^ mixed_address >> (kIndexBits - i) ^ index_fold_[i].value()) % (1U << kIndexBits);
        look.tag[i] = static_cast<std::uint16_t>(
            (mixed_address ^ tag_fold_[i].value() ^ tag_fold_shorter_[i].value() << 1) % (1U << kTagBits));
    }
    // From the longest history to the shortest: the first match is the provider, the second the alternate. Without a
    // second match the base table is the alternate.
    for (unsigned i = kTables; i-- > 0;) {
        const Entry& entry = tables_[i][look.index[i]];
        if (entry.tag != look.tag[i]) continue;
        if (look.provider != kNone) {
            look.alternate = i;
            look.alternate_says = entry.direction.taken();
            break;
        }
        look.provider = i;
        look.provider_says = entry.direction.taken();
        look.fresh = entry.direction.weak() && entry.useful == 0;
    }
    return look;
}

// A fresh entry has learnt little more than the outcome that allocated it. Whether such entries do better than their
// alternates depends on the program, so one counter for all of them (trust_alternate_) learns it.
bool Tage::choose(const Look& look) const {
    if (look.provider == kNone) return look.alternate_says;
    return look.fresh && trust_alternate_.taken() ? look.alternate_says : look.provider_says;
}

// Usefulness changes only if provider and alternate disagree. If they agree, the entry makes no difference.
void Tage::train(const Look& look, bool taken) {
    if (look.provider == kNone) {
        base_[look.base].train(taken);
        return;
    }
    const bool they_differ = look.provider_says != look.alternate_says;
    if (look.fresh && they_differ) trust_alternate_.train(look.alternate_says == taken);

    Entry& entry = tables_[look.provider][look.index[look.provider]];
    // An entry that is not useful may be replaced at any time, so the one below it learns, too.
    if (entry.useful == 0) {
        if (look.alternate != kNone)
            tables_[look.alternate][look.index[look.alternate]].direction.train(taken);
        else
            base_[look.base].train(taken);
    }
    entry.direction.train(taken);
    if (!they_differ) return;
    if (look.provider_says == taken && entry.useful < kMostUseful) ++entry.useful;
    if (look.provider_says != taken && entry.useful > 0) --entry.useful;
}

/// Takes an entry with a longer history than the provider's: one table later in three cases of four, two later in one,
/// so that two branches do not fight for the same entry for ever.
void Tage::allocate(const Look& look, bool taken) {
    unsigned first = look.provider == kNone ? 0 : look.provider + 1;
    if (first >= kTables) return;
    random_ = random_ * 1664525 + 1013904223;  // Numerical Recipes, section 7.1
    if (random_ >> 30 == 0 && first + 1 < kTables) ++first;

    bool found = false;
    for (unsigned i = first; i < kTables && !found; ++i) {
        Entry& entry = tables_[i][look.index[i]];
        if (entry.useful != 0) continue;
        entry.tag = look.tag[i];
        entry.direction.start(taken);
        found = true;
    }
    // Every candidate was useful: all become less useful, so that a branch that is often mispredicted gets an entry in
    // the end. None of them is 0 here, so none wraps.
    if (!found)
        for (unsigned i = first; i < kTables; ++i) --tables_[i][look.index[i]].useful;
    if (++allocations_ % kAllocationsBetweenForgetting == 0) forget_some_uses();
}

// After each 2^18 attempts to allocate, all entries become less useful. Otherwise entries of a past phase of the
// program would stay for ever.
void Tage::forget_some_uses() {
    for (auto& table : tables_)
        for (Entry& entry : table) entry.useful /= 2;
}

void Tage::push(bool taken) {
    for (unsigned i = 0; i < kTables; ++i) {
        const bool leaves = history_.outcome(kLengths[i] - 1);
        index_fold_[i].push(taken, leaves, kLengths[i], kIndexBits);
        tag_fold_[i].push(taken, leaves, kLengths[i], kTagBits);
        tag_fold_shorter_[i].push(taken, leaves, kLengths[i], kTagBits - 1);
    }
    history_.push(taken);
}

}  // namespace anyperf::models

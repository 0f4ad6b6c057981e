// shared_level.cpp: the last level, and the snoops between cores (core.h has the rules).
#include <algorithm>
#include <span>

#include "models/caches/core.h"

namespace anyperf::models {

SharedLevel::SharedLevel(const Machine& machine, std::uint64_t* memory) : machine_(machine), l3_(machine.l3, memory) {}

bool SharedLevel::join(Core& core) {
    Core** const room = std::ranges::find(cores_, nullptr);
    if (room == cores_.end()) return false;
    *room = &core;
    used_ = std::max(used_, static_cast<std::size_t>(room - cores_.begin()) + 1);
    return true;
}

void SharedLevel::part(Core& core) {
    std::ranges::replace(cores_, &core, nullptr);
    while (used_ != 0 && cores_[used_ - 1] == nullptr) --used_;
}

// The result names the source of the newest data: first a core that has modified the line, then this level, then a core
// that has the line unchanged.
//
// The state that the requesting core gets: shared if another core keeps the line; modified if a level of victims gives
// away the only copy that is newer than memory; exclusive otherwise.
Found SharedLevel::read(const Core& core, std::uint64_t line, bool writes) {
    bool others_have_it = false;
    bool changed = false;
    for (Core* other : std::span{cores_}.first(used_)) {
        if (other == nullptr || other == &core) continue;
        const LineState state = other->state_of(line);
        if (!present(state)) continue;
        others_have_it = true;
        changed = changed || state == LineState::modified;
        writes ? other->lose(line) : other->share(line);
    }
    const LineState here = look_up(line);
    const bool found_here = present(here);
    if (!found_here && machine_.inclusion != Inclusion::victim) insert(line, LineState::exclusive);
    // The only copy that is newer than memory goes to the requesting core if it writes, and to this level if not.
    if (changed && !writes) accept({line, LineState::modified});

    const bool keeps_change = machine_.inclusion == Inclusion::victim && here == LineState::modified;
    const LineState state = others_have_it && !writes ? LineState::shared
                            : keeps_change            ? LineState::modified
                                                      : LineState::exclusive;
    if (changed) return {Source::modified_peer, state};
    if (found_here) return {Source::l3, state};
    return {others_have_it ? Source::clean_peer : Source::memory, state};
}

/// Looks a line up for a core that will hold it: a level of victims gives it away.
LineState SharedLevel::look_up(std::uint64_t line) {
    return machine_.inclusion == Inclusion::victim ? l3_.remove(line) : l3_.touch(line);
}

void SharedLevel::take_from_others(const Core& core, std::uint64_t line) {
    for (Core* other : std::span{cores_}.first(used_))
        if (other != nullptr && other != &core) other->lose(line);
}

void SharedLevel::accept(Victim victim) {
    if (present(l3_.find(victim.line))) {
        if (victim.state == LineState::modified) l3_.set_state(victim.line, LineState::modified);
    } else if (victim.state == LineState::modified || machine_.inclusion == Inclusion::victim) {
        insert(victim.line, victim.state);
    }
}

void SharedLevel::insert(std::uint64_t line, LineState state) {
    const Victim victim = l3_.insert(line, state);
    // An inclusive level removes its victim from the cores, even a line that a core uses all the time: hits in L1 do
    // not reach this level, so that line may be the oldest here.
    if (!victim.exists() || machine_.inclusion != Inclusion::inclusive) return;
    for (Core* core : std::span{cores_}.first(used_))
        if (core != nullptr) core->lose(victim.line);
}

bool SharedLevel::touch(std::uint64_t line) {
    if (present(l3_.touch(line))) return true;
    l3_.insert(line, LineState::exclusive);
    return false;
}

}  // namespace anyperf::models

// slots.h: the slots of threads that take turns (run/turns.h), for this folder and for files that search for a thread.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine::turns {

using run::TurnClosed;
using run::TurnEnd;
using run::TurnKey;
using run::Turns;
using run::TurnSlot;
using run::TurnState;
using run::TurnWait;
using run::TurnWatch;

/// The slot of a thread that takes turns.
inline TurnSlot& slot_of(const Thread& thread) {
    return thread.engine->turns->slot[thread.turn_slot];
}

inline TurnState load_state(const TurnSlot& slot) {
    return static_cast<TurnState>(__atomic_load_n(&slot.state, __ATOMIC_SEQ_CST));
}
inline void store_state(TurnSlot& slot, TurnState state) {
    __atomic_store_n(&slot.state, static_cast<std::uint32_t>(state), __ATOMIC_SEQ_CST);
}
/// Changes the state from `from` to `to`. False: it was not `from`.
inline bool change_state(TurnSlot& slot, TurnState from, TurnState to) {
    auto expected = static_cast<std::uint32_t>(from);
    return __atomic_compare_exchange_n(&slot.state, &expected, static_cast<std::uint32_t>(to), false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

/// The futexes of a thread that waits for several. Programs can write the numbers, so they are checked.
inline run::TurnVector& vector_of(Turns& turns, const TurnSlot& slot) {
    return turns.vector[slot.vector <= run::kTurnVectors ? slot.vector : 0];
}
inline const run::TurnVector& vector_of(const Turns& turns, const TurnSlot& slot) {
    return turns.vector[slot.vector <= run::kTurnVectors ? slot.vector : 0];
}
inline std::uint32_t futexes_in(const run::TurnVector& vector) {
    return vector.count < run::TurnVector::kMost ? vector.count : run::TurnVector::kMost;
}

/// When the thread of the slot, which waits, goes on at the latest: the end of its wait or a timer of its process.
inline std::uint64_t wakes_at(const TurnSlot& slot) {
    const std::uint64_t timer = slot.wait == TurnWait::vfork || slot.timer == 0 ? run::kNoDeadline : slot.timer;
    return timer < slot.deadline ? timer : slot.deadline;
}

/// Calls `function` with the number of each slot that has been used.
template <class Function>
void for_each_slot(const Turns& turns, Function function) {
    const std::uint32_t used = __atomic_load_n(&turns.slots_used, __ATOMIC_ACQUIRE);
    for (std::uint32_t number = 1; number <= used && number <= run::kTurnSlots; ++number) function(number);
}

/// Whether `matches(number)` of some slot that has been used.
template <class Matches>
bool any_slot(const Turns& turns, Matches matches) {
    bool any = false;
    for_each_slot(turns, [&](std::uint32_t number) { any = any || matches(number); });
    return any;
}

}  // namespace anyperf::engine::turns

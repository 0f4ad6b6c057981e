// slots.h: the slots of threads that take turns (run/turns.h). For the files of this folder, and what looks for a
// thread.
#pragma once

#include <cstdint>

#include "engine/engine.h"

namespace anyperf::engine::turns {

/// The slot of a thread that takes turns.
inline run::TurnSlot& slot_of(const Thread& thread) {
    return thread.engine->turns->slot[thread.turn_slot];
}

inline run::TurnState load_state(const run::TurnSlot& slot) {
    return static_cast<run::TurnState>(__atomic_load_n(&slot.state, __ATOMIC_SEQ_CST));
}
inline void store_state(run::TurnSlot& slot, run::TurnState state) {
    __atomic_store_n(&slot.state, static_cast<std::uint32_t>(state), __ATOMIC_SEQ_CST);
}
/// False: it was not `from`.
inline bool change_state(run::TurnSlot& slot, run::TurnState from, run::TurnState to) {
    auto expected = static_cast<std::uint32_t>(from);
    return __atomic_compare_exchange_n(&slot.state, &expected, static_cast<std::uint32_t>(to), false, __ATOMIC_SEQ_CST,
                                       __ATOMIC_SEQ_CST);
}

/// Calls `function` with the number of each slot that has been used.
template <class Function>
void for_each_slot(const run::Turns& turns, Function function) {
    const std::uint32_t used = __atomic_load_n(&turns.slots_used, __ATOMIC_ACQUIRE);
    for (std::uint32_t number = 1; number <= used && number <= run::kTurnSlots; ++number) function(number);
}

}  // namespace anyperf::engine::turns

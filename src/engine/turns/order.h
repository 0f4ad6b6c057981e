// order.h: who has the turn next, and what follows when nobody can run. For the files of this folder.
#pragma once

#include "engine/turns/turns.h"

namespace anyperf::engine::turns {

inline run::TurnState load_state(const run::TurnSlot& slot) {
    return static_cast<run::TurnState>(__atomic_load_n(&slot.state, __ATOMIC_SEQ_CST));
}
inline void store_state(run::TurnSlot& slot, run::TurnState state) {
    __atomic_store_n(&slot.state, static_cast<std::uint32_t>(state), __ATOMIC_SEQ_CST);
}
/// False: it was not `from`.
bool change_state(run::TurnSlot& slot, run::TurnState from, run::TurnState to);

/// Calls `function` with the number of each slot that has been used.
template <class Function>
void for_each_slot(const run::Turns& turns, Function function) {
    const std::uint32_t used = __atomic_load_n(&turns.slots_used, __ATOMIC_ACQUIRE);
    for (std::uint32_t number = 1; number <= used && number <= run::kTurnSlots; ++number) function(number);
}

/// The caller has the turn: passes it on. With `self` it may be the next one itself: then nothing is given, and the
/// result is true.
bool pass_on(Engine& engine, std::uint32_t self);

/// The calling thread, which is outside, wants to run. True: it has the turn now.
bool arrive(Engine& engine, std::uint32_t self);

/// Sleeps on the slot's word.
void sleep_on(std::uint32_t& word, std::uint32_t value, std::int64_t ns);

/// Sets a thread's word and wakes it.
void tell(run::TurnSlot& slot, std::uint32_t word);

/// For a thread that has waited for a while: takes the turn from a thread that is gone or stuck, and passes it on.
/// `unchanged` counts the looks since a turn was last given.
void look_after_holder(Engine& engine, std::uint32_t self, std::uint64_t& last_turns, unsigned& unchanged);

/// Waits until the kernel has taken away the thread that has left.
void see_off(Engine& engine);
/// Waits until a process is gone, a second at most.
void see_process_off(std::int32_t pid);

/// Frees the slots of a process that is gone, and wakes who may have waited for it.
void bury(Engine& engine, std::int32_t pid);

}  // namespace anyperf::engine::turns

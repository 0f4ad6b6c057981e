// turn_end.h: turns without an end (turns/turns.h), for the code that runs between two instructions of the application.
#pragma once

#include "engine/engine.h"
#include "run/turns.h"

namespace anyperf::engine::turns {

/// Whether the thread of the slot, which has the turn, should set it an end: it has none, and others can run.
inline bool is_asked_to_share(const run::Turns& turns, const run::TurnSlot& slot) {
    return __atomic_load_n(&turns.others_ready, __ATOMIC_SEQ_CST) != 0 &&
           __atomic_load_n(&slot.has_no_end, __ATOMIC_SEQ_CST) != 0;
}
inline bool is_asked_to_share(const Thread& thread) {
    const run::Turns* const turns = thread.engine->turns;
    return thread.turn_slot != 0 && is_asked_to_share(*turns, turns->slot[thread.turn_slot]);
}

/// The turn of the calling thread gets an end, if it has none and others can run.
void share_turn(Thread& thread);

}  // namespace anyperf::engine::turns

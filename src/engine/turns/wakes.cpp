#include "engine/turns/wakes.h"

#include <algorithm>

#include "engine/turns/slots.h"

namespace anyperf::engine::turns {

namespace {

/// The waiting slot that `matches`, of several the one that has waited for longest; 0: none.
template <class Matches>
std::uint32_t first_waiter(const Turns& turns, Matches matches) {
    std::uint32_t first = 0;
    for_each_slot(turns, [&](std::uint32_t number) {
        const TurnSlot& slot = turns.slot[number];
        if (load_state(slot) == TurnState::waiting && matches(slot) &&
            (first == 0 || slot.ticket < turns.slot[first].ticket))
            first = number;
    });
    return first;
}

/// Makes up to `most` waiting slots that match ready.
template <class Matches>
std::uint32_t wake(Engine& engine, std::uint32_t most, Matches matches) {
    std::uint32_t woken = 0;
    while (woken < most) {
        const std::uint32_t first = first_waiter(*engine.turns, matches);
        if (first == 0) break;
        if (make_ready(engine, first, TurnEnd::woken)) ++woken;
    }
    return woken;
}

/// A place in the queue of a futex. Slot 0: none.
struct Waiter {
    std::uint32_t slot = 0;
    std::uint32_t index = 0;  ///< of the futex, if the thread waits for several
    std::uint64_t ticket = 0;
};

/// Calls `consider` with each waiter of the futex that waits for some of the bits.
template <class Consider>
void for_each_waiter(const Turns& turns, const TurnKey& key, std::uint32_t bits, Consider consider) {
    for_each_slot(turns, [&](std::uint32_t number) {
        const TurnSlot& slot = turns.slot[number];
        if (load_state(slot) != TurnState::waiting) return;
        if (slot.wait == TurnWait::futex && slot.key == key && (slot.bits & bits) != 0)
            consider(Waiter{number, 0, slot.ticket});
        if (slot.wait != TurnWait::futexes) return;
        const run::TurnVector& vector = vector_of(turns, slot);
        for (std::uint32_t i = 0; i < futexes_in(vector); ++i)
            if (vector.futex[i].key == key) consider(Waiter{number, i, vector.futex[i].ticket});
    });
}

/// The one that has waited for longest.
Waiter first_waiter_of(const Turns& turns, const TurnKey& key, std::uint32_t bits) {
    Waiter first;
    for_each_waiter(turns, key, bits, [&](const Waiter& one) {
        if (first.slot == 0 || one.ticket < first.ticket) first = one;
    });
    return first;
}

std::uint32_t waits_for(const Turns& turns, const TurnKey& key) {
    std::uint32_t count = 0;
    for_each_waiter(turns, key, ~0u, [&](const Waiter&) { ++count; });
    return count;
}

/// Wakes up to `most` of the thread's waits for the futex, of which it may have several. Returns their number.
std::uint32_t wake_waiter(Engine& engine, const Waiter& waiter, const TurnKey& key, std::uint32_t most) {
    Turns& turns = *engine.turns;
    const TurnSlot& slot = turns.slot[waiter.slot];
    std::uint32_t woken = 1;
    if (slot.wait == TurnWait::futexes) {
        run::TurnVector& vector = vector_of(turns, slot);
        vector.woken = waiter.index;
        for (std::uint32_t i = 0; i < futexes_in(vector) && woken < most; ++i) {
            if (i == waiter.index || !(vector.futex[i].key == key)) continue;
            vector.woken = std::max(vector.woken, i);
            ++woken;
        }
    }
    return make_ready(engine, waiter.slot, TurnEnd::woken) ? woken : 0;
}

}  // namespace

bool make_ready(Engine& engine, std::uint32_t number, TurnEnd end) {
    TurnSlot& slot = engine.turns->slot[number];
    if (load_state(slot) != TurnState::waiting) return false;
    slot.end = end;
    slot.ticket = ++engine.turns->tickets;
    if (!change_state(slot, TurnState::waiting, TurnState::ready)) return false;
    __atomic_store_n(&engine.turns->others_ready, 1u, __ATOMIC_SEQ_CST);
    return true;
}

void release_vfork_parent(Engine& engine, TurnSlot& slot) {
    if (slot.vfork_parent != 0 && slot.vfork_parent <= run::kTurnSlots)
        make_ready(engine, slot.vfork_parent, TurnEnd::woken);
    slot.vfork_parent = 0;
}

std::uint32_t wake_futex(Engine& engine, const TurnKey& key, std::uint32_t most, std::uint32_t bits) {
    std::uint32_t woken = 0;
    while (woken < most) {
        const Waiter first = first_waiter_of(*engine.turns, key, bits);
        if (first.slot == 0) break;
        woken += wake_waiter(engine, first, key, most - woken);
    }
    return woken;
}

std::uint32_t requeue_futex(Engine& engine, const TurnKey& from, const TurnKey& to, std::uint64_t address,
                            std::uint32_t most) {
    Turns& turns = *engine.turns;
    if (from == to) return std::min(waits_for(turns, from), most);  // they stay, in their order
    std::uint32_t moved = 0;
    while (moved < most) {
        const Waiter first = first_waiter_of(turns, from, ~0u);
        if (first.slot == 0) break;
        TurnSlot& slot = turns.slot[first.slot];
        const std::uint64_t ticket = ++turns.tickets;
        if (slot.wait == TurnWait::futexes) {
            vector_of(turns, slot).futex[first.index] = {to, ticket};
        } else {
            slot.key = to;
            slot.address = address;
            slot.ticket = ticket;
        }
        ++moved;
    }
    return moved;
}

run::TurnVector* claim_vector(Thread& thread) {
    Turns& turns = *thread.engine->turns;
    for (std::uint32_t number = 1; number <= run::kTurnVectors; ++number) {
        run::TurnVector& vector = turns.vector[number];
        const TurnSlot& owner = turns.slot[vector.slot <= run::kTurnSlots ? vector.slot : 0];
        // A thread that was killed has not released it.
        if (vector.slot != 0 && owner.vector == number && load_state(owner) != TurnState::free) continue;
        vector.slot = thread.turn_slot;
        vector.woken = run::TurnVector::kNone;
        slot_of(thread).vector = number;
        return &vector;
    }
    return nullptr;
}

void release_vector(Thread& thread) {
    TurnSlot& slot = slot_of(thread);
    vector_of(*thread.engine->turns, slot).slot = 0;
    slot.vector = 0;
}

std::uint32_t first_lock_waiter(const Engine& engine, const TurnKey& key, bool& others) {
    const auto matches = [&](const TurnSlot& slot) { return slot.wait == TurnWait::futex_lock && slot.key == key; };
    const std::uint32_t first = first_waiter(*engine.turns, matches);
    others = first != 0 && first_waiter(*engine.turns, [&](const TurnSlot& slot) {
                               return matches(slot) && &slot != &engine.turns->slot[first];
                           }) != 0;
    return first;
}

void wake_descriptors(Engine& engine, std::uint64_t pipe) {
    wake(engine, run::kTurnSlots, [&](const TurnSlot& slot) {
        return slot.wait == TurnWait::descriptor && (pipe == 0 || slot.key.space == 0 || slot.key.space == pipe);
    });
}

bool any_descriptor_waiter(const Engine& engine) {
    return first_waiter(*engine.turns, [](const TurnSlot& slot) { return slot.wait == TurnWait::descriptor; }) != 0;
}

void wake_parent(Engine& engine, std::int32_t parent) {
    wake(engine, run::kTurnSlots,
         [&](const TurnSlot& slot) { return slot.wait == TurnWait::child && slot.pid == parent; });
}

void wake_parents(Engine& engine) {
    wake(engine, run::kTurnSlots, [](const TurnSlot& slot) { return slot.wait == TurnWait::child; });
}

}  // namespace anyperf::engine::turns

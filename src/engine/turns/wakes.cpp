#include "engine/turns/wakes.h"

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

}  // namespace

bool make_ready(Engine& engine, std::uint32_t number, TurnEnd end) {
    TurnSlot& slot = engine.turns->slot[number];
    if (load_state(slot) != TurnState::waiting) return false;
    slot.end = end;
    slot.ticket = ++engine.turns->tickets;
    return change_state(slot, TurnState::waiting, TurnState::ready);
}

void release_vfork_parent(Engine& engine, TurnSlot& slot) {
    if (slot.vfork_parent != 0 && slot.vfork_parent <= run::kTurnSlots)
        make_ready(engine, slot.vfork_parent, TurnEnd::woken);
    slot.vfork_parent = 0;
}

std::uint32_t wake_futex(Engine& engine, const TurnKey& key, std::uint32_t most, std::uint32_t bits) {
    return wake(engine, most, [&](const TurnSlot& slot) {
        return slot.wait == TurnWait::futex && slot.key == key && (slot.bits & bits) != 0;
    });
}

std::uint32_t requeue_futex(Engine& engine, const TurnKey& from, const TurnKey& to, std::uint64_t address,
                            std::uint32_t most) {
    std::uint32_t moved = 0;
    while (moved < most) {
        const std::uint32_t first = first_waiter(*engine.turns, [&](const TurnSlot& slot) {
            return slot.wait == TurnWait::futex && slot.key == from && !(from == to);
        });
        if (first == 0) break;
        TurnSlot& slot = engine.turns->slot[first];
        slot.key = to;
        slot.address = address;
        slot.ticket = ++engine.turns->tickets;
        ++moved;
    }
    return moved;
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

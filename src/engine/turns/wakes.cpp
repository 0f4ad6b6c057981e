// wakes.cpp: what makes waiting threads ready.
#include <algorithm>

#include "engine/signals/actions.h"
#include "engine/turns/order.h"

namespace anyperf::engine::turns {

using run::TurnEnd;
using run::TurnKey;
using run::Turns;
using run::TurnSlot;
using run::TurnState;
using run::TurnWait;

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

/// Signals whose default is to be ignored, and to stop the process (signal(7)).
constexpr std::uint64_t kIgnoredByDefault = signal_bit(17) | signal_bit(18) | signal_bit(23) | signal_bit(28);
constexpr std::uint64_t kStopping = signal_bit(19) | signal_bit(20) | signal_bit(21) | signal_bit(22);

}  // namespace

bool make_ready(Engine& engine, std::uint32_t number, TurnEnd end) {
    TurnSlot& slot = engine.turns->slot[number];
    if (load_state(slot) != TurnState::waiting) return false;
    slot.end = end;
    slot.ticket = ++engine.turns->tickets;
    return change_state(slot, TurnState::waiting, TurnState::ready);
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
    const auto matches = [&](const TurnSlot& slot) {
        return slot.wait == TurnWait::futex_lock && slot.key == key;
    };
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

void note_signal(Thread& thread, std::int32_t pid, std::int32_t tid, int signal) {
    Engine& engine = *thread.engine;
    Turns& turns = *engine.turns;
    const std::uint64_t bit = signal_bit(signal);
    std::uint32_t receiver = 0;
    bool known = false;
    bool dies = false;
    for_each_slot(turns, [&](std::uint32_t number) {
        const TurnSlot& slot = turns.slot[number];
        const TurnState state = load_state(slot);
        if (state == TurnState::free || state == TurnState::ended || slot.pid != pid) return;
        known = true;
        const bool is_meant = tid == 0 || slot.tid == tid;
        const bool open = (slot.blocked & bit) == 0 || signal == 9;
        if (is_meant && slot.wait == TurnWait::signal) make_ready(engine, number, TurnEnd::woken);
        if (!is_meant || !open || number == thread.turn_slot) return;
        if ((slot.caught & bit) != 0 && (receiver == 0 || slot.tid == pid)) receiver = number;
        dies = dies || signal == 9 ||
               ((slot.caught & bit) == 0 && (slot.ignored & bit) == 0 && (bit & (kIgnoredByDefault | kStopping)) == 0);
    });
    if (receiver != 0) {
        if (turns.slot[receiver].wait != TurnWait::vfork) make_ready(engine, receiver, TurnEnd::interrupted);
    } else if (dies && pid != slot_of(thread).pid) {
        see_process_off(pid);
        bury(engine, pid);
    } else if (known && (bit & (kStopping | signal_bit(18))) != 0) {
        wake(engine, run::kTurnSlots, [](const TurnSlot& slot) { return slot.wait == TurnWait::child; });
    }
    wake_descriptors(engine, 0);  // signalfd(2)
}

bool is_outside(const Engine& engine, std::uint64_t device, std::uint64_t inode) {
    const Turns& turns = *engine.turns;
    const std::uint32_t count = std::min(turns.outsiders, run::kTurnOutsiders);
    return std::any_of(turns.outsider, turns.outsider + count, [&](const run::TurnOutsider& one) {
        return one.device == device && one.inode == inode;
    });
}

}  // namespace anyperf::engine::turns

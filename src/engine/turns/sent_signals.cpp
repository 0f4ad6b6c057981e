#include "engine/turns/sent_signals.h"

#include "engine/signals/actions.h"
#include "engine/turns/order.h"
#include "engine/turns/wakes.h"

namespace anyperf::engine::turns {

using run::TurnEnd;
using run::Turns;
using run::TurnSlot;
using run::TurnState;
using run::TurnWait;

namespace {

/// Signals whose default is to be ignored, and to stop the process (signal(7)).
constexpr std::uint64_t kIgnoredByDefault = signal_bit(17) | signal_bit(18) | signal_bit(23) | signal_bit(28);
constexpr std::uint64_t kStopping = signal_bit(19) | signal_bit(20) | signal_bit(21) | signal_bit(22);

}  // namespace

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
        wake_parents(engine);
    }
    wake_descriptors(engine, 0);  // signalfd(2)
}

}  // namespace anyperf::engine::turns

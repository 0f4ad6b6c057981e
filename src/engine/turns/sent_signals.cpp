#include "engine/turns/sent_signals.h"

#include "engine/signals/actions.h"
#include "engine/turns/order.h"
#include "engine/turns/wakes.h"

namespace anyperf::engine::turns {

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
        const bool open = (slot.blocked & bit) == 0 || signal == kKillSignal;
        if (is_meant && slot.wait == TurnWait::signal) make_ready(engine, number, TurnEnd::woken);
        if (!is_meant || !open || number == thread.turn_slot) return;
        if ((slot.caught & bit) != 0 && (receiver == 0 || slot.tid == pid)) receiver = number;
        dies = dies || signal == kKillSignal ||
               ((slot.caught & bit) == 0 && (slot.ignored & bit) == 0 &&
                (bit & (kIgnoredByDefault | kStoppingByDefault)) == 0);
    });
    if (receiver != 0) {
        if (turns.slot[receiver].wait != TurnWait::vfork) make_ready(engine, receiver, TurnEnd::interrupted);
    } else if (dies && pid != slot_of(thread).pid) {
        if (await_process_end(pid))
            free_process_slots(engine, pid);
        else
            wake_parents(engine);  // a tracer holds it: the signal is a stop
    } else if (known && (bit & (kStoppingByDefault | signal_bit(kContinueSignal))) != 0) {
        wake_parents(engine);
    }
    wake_descriptors(engine, 0);  // signalfd(2)
}

}  // namespace anyperf::engine::turns

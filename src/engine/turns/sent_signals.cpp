#include "engine/turns/sent_signals.h"

#include "engine/signals/actions.h"
#include "engine/turns/order.h"
#include "engine/turns/wakes.h"

namespace anyperf::engine::turns {

namespace {

/// What a signal to a process, or to one of its threads, does.
struct Effect {
    std::uint32_t receiver = 0;  ///< the slot of the thread that handles it; 0: none, or the caller
    bool known = false;          ///< the process is one of the run
    bool ends = false;           ///< some thread does not block it, and it ends the process
};

/// `preferred`: the shown id of the thread that gets it if it can; 0: the first one of the process.
Effect effect_of(const Thread& thread, std::int32_t pid, std::int32_t tid, int signal, std::int32_t preferred) {
    const std::uint64_t bit = signal_bit(signal);
    const Turns& turns = *thread.engine->turns;
    Effect effect;
    bool is_preferred = false;
    for_each_slot(turns, [&](std::uint32_t number) {
        const TurnSlot& slot = turns.slot[number];
        const TurnState state = load_state(slot);
        if (state == TurnState::free || state == TurnState::ended || slot.pid != pid) return;
        effect.known = true;
        const bool is_meant = tid == 0 || slot.tid == tid;
        const bool open = (slot.blocked & bit) == 0 || signal == kKillSignal;
        if (!is_meant || !open) return;
        if ((slot.caught & bit) != 0 && !is_preferred) {
            is_preferred = preferred != 0 && slot.shown_tid == preferred;
            if (effect.receiver == 0 || slot.tid == pid || is_preferred) effect.receiver = number;
        }
        effect.ends = effect.ends || signal == kKillSignal ||
                      ((slot.caught & bit) == 0 && (slot.ignored & bit) == 0 &&
                       (bit & (kIgnoredByDefault | kStoppingByDefault)) == 0);
    });
    return effect;
}

/// The process is about to be ended: those who wait for it, and its parent's handler of SIGCHLD, get their turns.
void expect_end(Thread& thread, std::int32_t pid) {
    wake_parents(*thread.engine);
    const Turns& turns = *thread.engine->turns;
    std::uint32_t dying = 0;
    for_each_slot(turns, [&](std::uint32_t number) {
        if (turns.slot[number].pid == pid && load_state(turns.slot[number]) != TurnState::free) dying = number;
    });
    const TurnSlot& slot = turns.slot[dying];
    if (dying != 0 && slot.parent_pid != 0) expect_signal(thread, slot.parent_pid, 0, kChildSignal, slot.forked_by);
}

}  // namespace

void expect_signal(Thread& thread, std::int32_t pid, std::int32_t tid, int signal, std::int32_t preferred) {
    Engine& engine = *thread.engine;
    Turns& turns = *engine.turns;
    for_each_slot(turns, [&](std::uint32_t number) {
        const TurnSlot& slot = turns.slot[number];
        const bool is_meant = slot.pid == pid && (tid == 0 || slot.tid == tid);
        if (is_meant && slot.wait == TurnWait::signal) make_ready(engine, number, TurnEnd::woken);
    });
    const Effect effect = effect_of(thread, pid, tid, signal, preferred);
    if (effect.receiver != 0 && turns.slot[effect.receiver].wait != TurnWait::vfork)
        make_ready(engine, effect.receiver, TurnEnd::interrupted);
    if (effect.receiver == 0 && effect.ends && pid != slot_of(thread).pid) expect_end(thread, pid);
}

void note_signal(Thread& thread, std::int32_t pid, std::int32_t tid, int signal) {
    Engine& engine = *thread.engine;
    const Effect effect = effect_of(thread, pid, tid, signal, 0);
    const std::uint64_t bit = signal_bit(signal);
    if (effect.receiver == 0 && effect.ends && pid != slot_of(thread).pid) {
        if (await_process_end(pid))
            free_process_slots(engine, pid);
        else
            wake_parents(engine);  // a tracer holds it: the signal is a stop
    } else if (effect.known && (bit & (kStoppingByDefault | signal_bit(kContinueSignal))) != 0) {
        wake_parents(engine);
    }
    wake_descriptors(engine, 0);  // signalfd(2)
}

}  // namespace anyperf::engine::turns

#include "engine/turns/turns.h"

#include <asm/unistd.h>
#include <errno.h>
#include <sys/stat.h>
#include <time.h>

#include <algorithm>

#include "engine/fail.h"
#include "engine/hooks.h"
#include "engine/log.h"
#include "engine/shown_ids.h"
#include "engine/signals/signal_state.h"
#include "engine/time/virtual_clock.h"
#include "engine/turns/order.h"
#include "engine/turns/sent_signals.h"
#include "engine/turns/timers.h"
#include "engine/turns/turn_length.h"
#include "engine/turns/wakes.h"

namespace anyperf::engine::turns {

namespace {

/// A turn may be so much shorter than the length that was drawn: one part in so many.
constexpr std::uint64_t kClose = 8;
constexpr std::int64_t kNsOfMillisecond = 1'000'000;
/// So long after its deadline a thread ends the wait of another one with an earlier deadline, which does not wake up.
constexpr std::int64_t kPatienceNs = 100 * kNsOfMillisecond;
/// So long threads that wait for each other wait in the kernel before this is reported.
constexpr std::int64_t kPatienceWithDeadlock = 2 * kNsOfSecond;

/// Whether another thread can run before this one makes a system call: not if each waits, and without a deadline. So it
/// is with a parent that waits for its child.
bool can_others_run(const Thread& thread) {
    const Turns& turns = *thread.engine->turns;
    return any_slot(turns, [&](std::uint32_t number) {
        const TurnSlot& slot = turns.slot[number];
        const TurnState state = load_state(slot);
        if (number == thread.turn_slot || state == TurnState::free) return false;
        return state != TurnState::waiting || wakes_at(slot) != run::kNoDeadline;
    });
}

/// The turn ends after the next length that is drawn, or when a timer expires. If no other thread can run it has no
/// end, and the thread's code need not count down.
void set_turn_end(Thread& thread, std::uint64_t retired) {
    const std::uint64_t timer = until_timer(thread);
    unlimit_turn(thread);
    __atomic_store_n(&thread.engine->turns->others_ready, 0u, __ATOMIC_SEQ_CST);
    const bool has_end = timer != run::kNoDeadline || can_others_run(thread);
    __atomic_store_n(&slot_of(thread).has_no_end, has_end ? 0u : 1u, __ATOMIC_SEQ_CST);
    if (!has_end) return;
    const std::uint64_t length = draw_length(*thread.engine, slot_of(thread));
    limit_turn(thread, length < timer ? length - length / kClose : timer, retired);
}

/// The thread has been given the turn.
void begin_turn(Thread& thread) {
    Turns& turns = *thread.engine->turns;
    TurnSlot& slot = slot_of(thread);
    slot.holds_on = 1;
    await_thread_end(*thread.engine);
    slot.holds_on = 0;
    if (fire_timers(thread) && slot.wait == TurnWait::descriptor) slot.end = TurnEnd::woken;
    if (log_wants(*thread.engine, run::log::kSchedule)) [[unlikely]]
        log_turn(thread, turns.turns);
    // It has looked at the clock before it gave its last turn away. To count again would read a page of memory.
    set_turn_end(thread, thread.retired_at_look);
}

bool is_interrupted(const Thread& thread) {
    return thread.pending != 0 && has_deliverable(*thread.signals);
}

std::int64_t kernel_ns() {
    timespec now{};
    kernel_call(__NR_clock_gettime, CLOCK_MONOTONIC, address_of(&now));
    return now.tv_sec * kNsOfSecond + now.tv_nsec;
}

/// A signal or the kernel has ended the thread's wait. True: it has the turn.
bool come_from_wait(Thread& thread, TurnEnd end) {
    TurnSlot& slot = slot_of(thread);
    if (!change_state(slot, TurnState::waiting, TurnState::outside)) return false;
    slot.end = end;
    return arrive(*thread.engine, thread.turn_slot);
}

/// Finds out whether only threads of the run can end the wait.
void ask_whether_closed(Thread& thread, const Wait& wait) {
    if (wait.closed == nullptr) return;
    Closed closed = wait.closed(thread, wait.context);
    TurnSlot& slot = slot_of(thread);
    slot.address = closed.descriptor;
    slot.descriptors = closed.descriptors;
    __atomic_store(&slot.closed, &closed.kind, __ATOMIC_SEQ_CST);
}

/// No thread of the run can run: waits in the kernel for what the thread waits for, until it has happened or a thread
/// runs. Waits that end with a deadline end in the order of the deadlines, however late their threads wake up
/// (end_first_wait()). True: this thread has the turn.
bool watch(Thread& thread, const Wait& wait) {
    Turns& turns = *thread.engine->turns;
    TurnSlot& slot = slot_of(thread);
    constexpr std::int64_t kLongest = 50;  // ms
    const std::int64_t begun = kernel_ns();
    const std::uint64_t clock = look_at_clock(thread);
    bool asked = false;
    for (;;) {
        if (is_interrupted(thread)) return come_from_wait(thread, TurnEnd::interrupted);
        if (__atomic_load_n(&slot.turn, __ATOMIC_SEQ_CST) != run::kTurnNone ||
            __atomic_load_n(&turns.holder, __ATOMIC_SEQ_CST) != 0 || load_state(slot) != TurnState::waiting)
            return false;
        if (kernel_ns() - begun > kPatienceWithDeadlock) {
            if (!asked) ask_whether_closed(thread, wait);
            asked = true;
            report_if_deadlocked(*thread.engine, thread.turn_slot);
        }
        std::int64_t left = kLongest * kNsOfMillisecond;
        if (const std::uint64_t deadline = wakes_at(slot); deadline != run::kNoDeadline) {
            const std::uint64_t units = deadline > clock ? deadline - clock : 0;
            const auto ns = static_cast<std::int64_t>(units / kUnitsOfNanosecond);
            left = std::min(left, ns - (kernel_ns() - begun));
            if (left <= 0 && (left < -kPatienceNs || is_first_deadline(turns, thread.turn_slot))) {
                if (end_first_wait(*thread.engine, thread.turn_slot, deadline)) return true;
                continue;
            }
            left = std::max(left, kNsOfMillisecond);
        }
        if (wait.watch == nullptr)
            sleep_on_turn(slot, left);
        else if (wait.watch(wait.context, static_cast<int>((left + kNsOfMillisecond - 1) / kNsOfMillisecond)))
            return come_from_wait(thread, TurnEnd::woken);
    }
}

/// The thread does not wait in the kernel any more. If the one that gave it the turn is about to interrupt it, awaits
/// the signal, a second at most: it must come here, not in a call of the application.
void leave_watch(TurnSlot& slot) {
    std::uint32_t watching = run::kWatching;
    if (__atomic_compare_exchange_n(&slot.watching, &watching, std::uint32_t{run::kNotWatching}, false,
                                    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return;
    const std::int64_t begun = kernel_ns();
    while (__atomic_load_n(&slot.watching, __ATOMIC_SEQ_CST) == run::kBeingInterrupted &&
           kernel_ns() - begun < kNsOfSecond)
        kernel_call(__NR_sched_yield);
    kernel_call(__NR_sched_yield);  // the kernel delivers it at the end of a call
    __atomic_store_n(&slot.watching, std::uint32_t{run::kNotWatching}, __ATOMIC_SEQ_CST);
}

/// A signal from outside has ended the wait of this thread, but the turn of the one that has it has no end: asks that
/// one to set it an end.
void ask_for_turn(Engine& engine) {
    const Turns& turns = *engine.turns;
    const std::uint32_t holder = __atomic_load_n(&turns.holder, __ATOMIC_SEQ_CST);
    if (holder != 0 && holder <= run::kTurnSlots && is_asked_to_share(turns, turns.slot[holder]))
        interrupt_for_turns(turns.slot[holder]);
}

/// Sleeps until the thread has the turn. It makes at least one call of futex(2), so that the kernel delivers signals
/// that were sent before the turn was given.
void await_turn(Thread& thread, const Wait* wait) {
    Engine& engine = *thread.engine;
    TurnSlot& slot = slot_of(thread);
    HolderWatch seen;
    for (;;) {
        sleep_on_turn(slot, kLookNs);
        const std::uint32_t word = __atomic_exchange_n(&slot.turn, std::uint32_t{run::kTurnNone}, __ATOMIC_SEQ_CST);
        if (word == run::kTurnGiven) return;
        if (word == run::kTurnEnd)
            for (;;) kernel_call(__NR_exit_group, kOwnFailure);
        if (word == run::kTurnWatch && wait != nullptr) {
            __atomic_store_n(&slot.watching, std::uint32_t{run::kWatching}, __ATOMIC_SEQ_CST);
            const bool mine = watch(thread, *wait);
            leave_watch(slot);
            if (mine) return;
            continue;
        }
        if (load_state(slot) == TurnState::outside && arrive(engine, thread.turn_slot)) return;
        if (wait != nullptr && is_interrupted(thread) && come_from_wait(thread, TurnEnd::interrupted)) return;
        check_holder(engine, thread.turn_slot, seen);
        ask_for_turn(engine);
    }
}

/// Updates what other threads must know to send signals to this one (sent_signals.h).
void publish_signals(Thread& thread) {
    TurnSlot& slot = slot_of(thread);
    slot.blocked = thread.signals->mask;
    slot.caught = thread.signals->actions->caught();
    slot.ignored = thread.signals->actions->ignored();
}

/// Gives the turn away and waits for the next one. Precondition: the slot's state is `ready` or `waiting`.
void give_away(Thread& thread, const Wait* wait) {
    look_at_clock(thread);
    publish_signals(thread);
    if (!pass_on(*thread.engine, thread.turn_slot)) {
        if (wait == nullptr) ++thread.page.turn_switches[1];
        await_turn(thread, wait);
    }
    begin_turn(thread);
}

void note_outsiders(Turns& turns) {
    constexpr std::uint64_t kDescriptors = 256;
    for (std::uint64_t fd = 0; fd < kDescriptors; ++fd) {
        struct stat about{};
        if (is_error(kernel_call(__NR_fstat, fd, address_of(&about))) || S_ISREG(about.st_mode)) continue;
        if (turns.outsiders == run::kTurnOutsiders)
            turns.descriptors_passed = 1;
        else
            turns.outsider[turns.outsiders++] = {about.st_dev, about.st_ino};
    }
}

bool is_nobody_there(const Turns& turns) {
    return !any_slot(turns, [&](std::uint32_t number) {
        const TurnState state = load_state(turns.slot[number]);
        return state != TurnState::free && state != TurnState::ended;
    });
}

/// The run's first program begins, or the next repetition of `stat -r`: each has the same order.
void begin_run(Engine& engine) {
    Turns& turns = *engine.turns;
    turns.shown_ids = 0;  // the end of the last repetition is awaited, not that of anyperf
    await_thread_end(engine);
    turns.outsiders = turns.descriptors_passed = turns.leaving = turns.leaving_process = 0;
    turns.slots_used = 0;
    turns.turns = turns.tickets = turns.spaces = turns.objects = 0;
    turns.pid_namespace = engine.pid_namespace;
    new_shown_id(turns, static_cast<std::int32_t>(kernel_call(__NR_getppid)));
    __atomic_store_n(&turns.holder, 0u, __ATOMIC_SEQ_CST);
    note_outsiders(turns);
    turns.random = engine.run->order * 0x9e3779b97f4a7c15ull ^ 0x7475726e73ull;
    turns.low_from = turns.low_until = 0;
    for (unsigned i = 0; i < 4; ++i) draw(turns);
}

std::uint32_t claim_slot(Turns& turns) {
    for (std::uint32_t number = 1; number <= run::kTurnSlots; ++number) {
        if (number <= turns.slots_used && load_state(turns.slot[number]) != TurnState::free) continue;
        turns.slot[number] = {};
        turns.slots_used = std::max(turns.slots_used, number);
        return number;
    }
    return 0;
}

/// Makes the slot that of the calling thread. The kernel clears `alive` when the thread has ended.
void bind_slot(Thread& thread, std::uint32_t number) {
    thread.turn_slot = number;
    TurnSlot& slot = slot_of(thread);
    slot.alive = 1;
    slot.tid = thread.tid;
    slot.pid = static_cast<std::int32_t>(kernel_call(__NR_getpid));
    if (shows_ids(*thread.engine)) name_shown_id(*thread.engine->turns, slot.shown_tid, slot.tid);
    kernel_call(__NR_set_tid_address, address_of(&slot.alive));
}

/// The slot that the program's process had before it executed the program; 0: none. Its other threads are gone.
std::uint32_t slot_over_exec(Turns& turns, std::int32_t pid) {
    std::uint32_t own = 0;
    const std::uint32_t holder = __atomic_load_n(&turns.holder, __ATOMIC_SEQ_CST);
    for_each_slot(turns, [&](std::uint32_t number) {
        if (turns.slot[number].pid == pid && load_state(turns.slot[number]) != TurnState::free &&
            (own == 0 || number == holder))
            own = number;
    });
    for_each_slot(turns, [&](std::uint32_t number) {
        if (number != own && turns.slot[number].pid == pid) store_state(turns.slot[number], TurnState::free);
    });
    return own;
}

void leave(Thread& thread, bool whole_process) {
    Engine& engine = *thread.engine;
    Turns& turns = *engine.turns;
    store_state(slot_of(thread), TurnState::ended);
    turns.leaving = thread.turn_slot;
    turns.leaving_process = whole_process ? 1 : 0;
    unlimit_turn(thread);
    pass_on(engine, 0);
}

bool is_last_of_process(const Thread& thread) {
    const Turns& turns = *thread.engine->turns;
    return !any_slot(turns, [&](std::uint32_t number) {
        const TurnSlot& slot = turns.slot[number];
        return number != thread.turn_slot && slot.pid == slot_of(thread).pid && load_state(slot) != TurnState::free;
    });
}

}  // namespace

void begin_program(Thread& thread) {
    Engine& engine = *thread.engine;
    Turns& turns = *engine.turns;
    const auto pid = static_cast<std::int32_t>(kernel_call(__NR_getpid));
    std::uint32_t number = slot_over_exec(turns, pid);
    if (number == 0 && is_nobody_there(turns)) begin_run(engine);
    if (number == 0) number = claim_slot(turns);
    if (number == 0) refuse(kOwnFailure, "cannot start", "", "more threads than can take turns", "use --no-turns");
    TurnSlot& slot = turns.slot[number];
    if (slot.shown_pid == 0) {
        slot.shown_pid = shown_of(turns, pid);
        slot.is_low = draw_priority(engine, true);
    }
    slot.shown_tid = slot.shown_pid;
    bind_slot(thread, number);
    engine.turn_space = slot.space = new_space(engine);
    if (__atomic_load_n(&turns.holder, __ATOMIC_SEQ_CST) != number && !arrive(engine, number))
        await_turn(thread, nullptr);
    keep_interval_timer(thread);
    const bool has_vfork_parent = slot.vfork_parent != 0;
    release_vfork_parent(engine, slot);
    wake_descriptors(engine, 0);  // the exec has closed some
    // The parent is first: most parents wait for the program at once, and then its turns need no end.
    has_vfork_parent ? pass(thread) : begin_turn(thread);
}

std::uint32_t new_slot(Thread& thread, std::uint64_t space, bool vforked, bool own_process) {
    Turns& turns = *thread.engine->turns;
    const std::uint32_t number = claim_slot(turns);
    if (number == 0) return 0;
    TurnSlot& slot = turns.slot[number];
    slot.alive = 1;
    slot.space = space;
    slot.deadline = run::kNoDeadline;
    slot.ticket = ++turns.tickets;
    slot.vfork_parent = vforked ? thread.turn_slot : 0;
    slot.shown_tid = new_shown_id(turns, 0);
    slot.shown_pid = own_process ? slot.shown_tid : slot_of(thread).shown_pid;
    slot.parent_pid = own_process ? slot_of(thread).pid : slot_of(thread).parent_pid;
    slot.forked_by = own_process ? slot_of(thread).shown_tid : slot_of(thread).forked_by;
    slot.affinity = slot_of(thread).affinity;
    slot.is_low = draw_priority(*thread.engine, false);
    if (!own_process) slot.timer = slot_of(thread).timer, slot.alarm = slot_of(thread).alarm;
    store_state(slot, TurnState::ready);
    if (!vforked) share_turn(thread);  // the parent of a vfork waits at once
    return number;
}

void free_slot(Engine& engine, std::uint32_t slot) {
    store_state(engine.turns->slot[slot], TurnState::free);
}

void name_slot(Engine& engine, std::uint32_t slot, std::int32_t pid, std::int32_t tid) {
    engine.turns->slot[slot].pid = pid;
    engine.turns->slot[slot].tid = tid;
    if (shows_ids(engine)) name_shown_id(*engine.turns, engine.turns->slot[slot].shown_tid, tid);
}

std::uint64_t new_space(Engine& engine) {
    return ++engine.turns->spaces;
}

void begin_thread(Thread& thread, std::uint32_t slot) {
    bind_slot(thread, slot);
    await_turn(thread, nullptr);
    begin_turn(thread);
}

void begin_fork_child(Thread& thread, std::uint32_t slot) {
    bind_slot(thread, slot);
    forget_timers(thread);
    await_turn(thread, nullptr);
    begin_turn(thread);
}

void begin_vfork(Thread& thread) {
    TurnSlot& slot = slot_of(thread);
    look_at_clock(thread);
    publish_signals(thread);
    slot.wait = TurnWait::vfork;
    slot.deadline = run::kNoDeadline;
    slot.watches = TurnWatch::no;
    slot.address = 0;
    store_state(slot, TurnState::waiting);
    pass_on(*thread.engine, 0);
}

void begin_stop(Thread& thread) {
    look_at_clock(thread);
    publish_signals(thread);
    wake_parents(*thread.engine);
    store_state(slot_of(thread), TurnState::outside);
    pass_on(*thread.engine, 0);
}

void end_vfork(Thread& thread, std::uint32_t child, bool failed) {
    Engine& engine = *thread.engine;
    Turns& turns = *engine.turns;
    TurnSlot& slot = slot_of(thread);
    if (failed) {
        std::uint32_t holder = child;
        const bool had_turn = __atomic_compare_exchange_n(&turns.holder, &holder, thread.turn_slot, false,
                                                          __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
        free_slot(engine, child);
        store_state(slot, TurnState::outside);
        if (had_turn) store_state(slot, TurnState::running);
        if (had_turn || arrive(engine, thread.turn_slot)) return begin_turn(thread);
    }
    await_turn(thread, nullptr);
    begin_turn(thread);
}

void end_thread(Thread& thread) {
    if (is_last_of_process(thread)) return end_process(thread);
    leave(thread, false);
}

void end_process(Thread& thread) {
    Engine& engine = *thread.engine;
    Turns& turns = *engine.turns;
    release_vfork_parent(engine, slot_of(thread));
    for_each_slot(turns, [&](std::uint32_t number) {
        if (number != thread.turn_slot && turns.slot[number].pid == slot_of(thread).pid)
            store_state(turns.slot[number], TurnState::free);
    });
    const auto parent = static_cast<std::int32_t>(kernel_call(__NR_getppid));
    wake_parent(engine, parent);
    expect_signal(thread, parent, 0, kChildSignal, slot_of(thread).forked_by);
    wake_descriptors(engine, 0);
    leave(thread, true);
}

void share_turn(Thread& thread) {
    if (!is_limited(thread)) set_turn_end(thread, x86_64::retired_by(thread));
}

void pass(Thread& thread) {
    TurnSlot& slot = slot_of(thread);
    slot.ticket = ++thread.engine->turns->tickets;
    slot.end = TurnEnd::woken;
    store_state(slot, TurnState::ready);
    give_away(thread, nullptr);
}

void pass_at_end(Thread& thread) {
    note_used_up(slot_of(thread), thread.registers.rip);
    pass(thread);
}

TurnEnd wait(Thread& thread, const Wait& wait, bool& begun) {
    TurnSlot& slot = slot_of(thread);
    begun = false;
    if (is_interrupted(thread)) return TurnEnd::interrupted;
    begun = true;
    slot.used_up = 0;
    ++thread.page.turn_switches[0];
    bool again = false;
    do {
        slot.wait = wait.kind;
        slot.key = wait.key;
        slot.bits = wait.bits;
        slot.deadline = wait.deadline;
        slot.address = wait.address;
        slot.closed = run::TurnClosed::no;
        slot.watches = wait.watch == nullptr ? TurnWatch::no : wait.outside ? TurnWatch::outside : TurnWatch::inside;
        slot.end = TurnEnd::woken;
        slot.ticket = ++thread.engine->turns->tickets;
        store_state(slot, TurnState::waiting);
        give_away(thread, &wait);
        // A timer of the process may have ended the wait.
        const bool early = slot.end == TurnEnd::timed_out && look_at_clock(thread) < wait.deadline;
        if (slot.end != TurnEnd::woken && is_interrupted(thread)) slot.end = TurnEnd::interrupted;
        again = slot.end == TurnEnd::interrupted ? !is_interrupted(thread) : early;
    } while (again);
    slot.wait = TurnWait::nothing;
    return slot.end;
}

bool is_alone(const Thread& thread) {
    const Turns& turns = *thread.engine->turns;
    return !any_slot(turns, [&](std::uint32_t number) {
        return number != thread.turn_slot && load_state(turns.slot[number]) != TurnState::free;
    });
}

bool is_outside(const Engine& engine, std::uint64_t device, std::uint64_t inode) {
    const Turns& turns = *engine.turns;
    const std::uint32_t count = std::min(turns.outsiders, run::kTurnOutsiders);
    return std::any_of(turns.outsider, turns.outsider + count,
                       [&](const run::TurnOutsider& one) { return one.device == device && one.inode == inode; });
}

void come_back(Thread& thread) {
    if (__atomic_load_n(&thread.engine->turns->holder, __ATOMIC_SEQ_CST) == thread.turn_slot) return;
    if (!arrive(*thread.engine, thread.turn_slot)) await_turn(thread, nullptr);
    begin_turn(thread);
}

}  // namespace anyperf::engine::turns

#include "engine/turns/order.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "engine/fail.h"
#include "engine/freestanding/text.h"
#include "engine/signals/engine_signals.h"
#include "engine/time/virtual_clock.h"
#include "engine/turns/wakes.h"
#include "run/lock_holder.h"

namespace anyperf::engine::turns {

namespace {

/// The waiting slot with the earliest deadline; of several, the one that has waited for the longest time. 0: none has a
/// deadline.
std::uint32_t first_deadline(const Turns& turns) {
    std::uint32_t first = 0;
    for_each_slot(turns, [&](std::uint32_t number) {
        const TurnSlot& slot = turns.slot[number];
        if (load_state(slot) != TurnState::waiting || wakes_at(slot) == run::kNoDeadline) return;
        const TurnSlot& best = turns.slot[first];
        if (first == 0 || wakes_at(slot) < wakes_at(best) ||
            (wakes_at(slot) == wakes_at(best) && slot.ticket < best.ticket))
            first = number;
    });
    return first;
}

std::uint64_t clock_of(const Engine& engine) {
    return __atomic_load_n(&engine.run_use->clock, __ATOMIC_RELAXED);
}

bool take_turn_from(Turns& turns, std::uint32_t from, std::uint32_t self) {
    return __atomic_compare_exchange_n(&turns.holder, &from, self, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void end_waits_until(Engine& engine, std::uint64_t now) {
    Turns& turns = *engine.turns;
    for (;;) {
        const std::uint32_t first = first_deadline(turns);
        if (first == 0 || wakes_at(turns.slot[first]) > now) return;
        if (!make_ready(engine, first, TurnEnd::timed_out)) turns.slot[first].deadline = run::kNoDeadline;
    }
}

void admit_arrivals(Turns& turns) {
    for_each_slot(turns, [&](std::uint32_t number) {
        TurnSlot& slot = turns.slot[number];
        if (load_state(slot) != TurnState::arriving) return;
        slot.ticket = ++turns.tickets;
        change_state(slot, TurnState::arriving, TurnState::ready);
    });
}

/// Whether this is a time in which threads of low priority come last. The times are drawn: from a microsecond to some
/// 16 ms long, and as far apart.
bool is_low_time(Engine& engine) {
    Turns& turns = *engine.turns;
    if (engine.run->has_priorities == 0) return false;
    const std::uint64_t now = clock_of(engine);
    const auto draw_time = [&] { return 1000 * kUnitsOfNanosecond << draw(turns) % 15; };
    if (now >= turns.low_until) {
        turns.low_from = now + draw_time();
        turns.low_until = turns.low_from + draw_time();
    }
    return now >= turns.low_from;
}

std::uint32_t first_ready(Engine& engine) {
    const Turns& turns = *engine.turns;
    const bool low_last = is_low_time(engine);
    const auto comes_before = [&](const TurnSlot& one, const TurnSlot& other) {
        if (low_last && one.is_low != other.is_low) return one.is_low < other.is_low;
        return one.ticket < other.ticket;
    };
    std::uint32_t first = 0;
    for_each_slot(turns, [&](std::uint32_t number) {
        const TurnSlot& slot = turns.slot[number];
        if (load_state(slot) == TurnState::ready && (first == 0 || comes_before(slot, turns.slot[first])))
            first = number;
    });
    return first;
}

/// Whether something outside of the run may make a thread ready.
bool waits_for_outside(const Turns& turns) {
    return any_slot(turns, [&](std::uint32_t number) {
        const TurnSlot& slot = turns.slot[number];
        const TurnState state = load_state(slot);
        return state == TurnState::outside || state == TurnState::arriving ||
               (state == TurnState::waiting && slot.watches == TurnWatch::outside);
    });
}

/// The slot that gets the next turn; 0: no thread can run. If no thread waits for the outside, the virtual clock is
/// advanced to the next deadline.
std::uint32_t next(Engine& engine) {
    Turns& turns = *engine.turns;
    for (;;) {
        admit_arrivals(turns);
        end_waits_until(engine, clock_of(engine));
        if (const std::uint32_t ready = first_ready(engine); ready != 0) return ready;
        const std::uint32_t sleeper = first_deadline(turns);
        if (sleeper == 0 || waits_for_outside(turns)) return 0;
        advance_clock(engine, wakes_at(turns.slot[sleeper]));
    }
}

void give(Engine& engine, std::uint32_t number) {
    Turns& turns = *engine.turns;
    TurnSlot& slot = turns.slot[number];
    ++turns.turns;
    store_state(slot, TurnState::running);
    __atomic_store_n(&turns.holder, number, __ATOMIC_SEQ_CST);
    notify(slot, run::kTurnGiven);
    std::uint32_t watching = run::kWatching;
    if (!__atomic_compare_exchange_n(&slot.watching, &watching, std::uint32_t{run::kBeingInterrupted}, false,
                                     __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        return;
    interrupt_for_turns(slot);
    __atomic_store_n(&slot.watching, std::uint32_t{run::kNotWatching}, __ATOMIC_SEQ_CST);
}

/// Wakes the slot's thread if it sleeps on `turn`. The thread says that it does before the kernel looks at `turn`, so
/// either this sees it, or the kernel sees what was stored before this.
void wake_sleeper(TurnSlot& slot) {
    if (__atomic_load_n(&slot.asleep, __ATOMIC_SEQ_CST) != 0)
        kernel_call(__NR_futex, address_of(&slot.turn), FUTEX_WAKE, 1);
}

std::string_view name_of(TurnWait kind) {
    switch (kind) {
        case TurnWait::futex: return "a futex";
        case TurnWait::futexes: return "one of several futexes, the first";
        case TurnWait::futex_lock: return "a PI futex";
        case TurnWait::child: return "a child";
        case TurnWait::signal: return "a signal";
        case TurnWait::vfork: return "the child of its vfork";
        default: return "nothing";
    }
}

std::string_view name_of(TurnClosed kind) {
    switch (kind) {
        case TurnClosed::pipe: return "a pipe";
        case TurnClosed::socket: return "a socket";
        default: return "an event counter";
    }
}

void append_descriptors(Line& line, const TurnSlot& slot) {
    if (slot.descriptors > 1) line.text("one of ").decimal(slot.descriptors).text(" descriptors, the first ");
    if (slot.descriptors <= 1) line.text("descriptor ");
    line.decimal(static_cast<std::int64_t>(slot.address)).text(", ").text(name_of(slot.closed));
}

/// All threads wait for each other: reports this and ends the run.
[[noreturn]] void report_deadlock(Engine& engine) {
    Turns& turns = *engine.turns;
    Line{}.text("anyperf: all threads of the run wait for each other").write(2);
    for_each_slot(turns, [&](std::uint32_t number) {
        const TurnSlot& slot = turns.slot[number];
        if (load_state(slot) != TurnState::waiting) return;
        Line line;
        line.text("  thread ").decimal(slot.shown_tid).text(" of process ").decimal(slot.shown_pid);
        line.text(" waits for ");
        if (slot.wait == TurnWait::descriptor)
            append_descriptors(line, slot);
        else
            line.text(name_of(slot.wait));
        if (slot.wait != TurnWait::descriptor && slot.address != 0) line.text(" at ").hex(slot.address);
        line.write(2);
    });
    for_each_slot(turns, [&](std::uint32_t number) { notify(turns.slot[number], run::kTurnEnd); });
    for (;;) kernel_call(__NR_exit_group, kOwnFailure);
}

/// No thread can run. Threads that can wait in the kernel for what they wait for do so, and the first one that can go
/// on takes the turn.
void release_turn(Engine& engine) {
    Turns& turns = *engine.turns;
    const std::uint32_t sleeper = first_deadline(turns);
    const auto is_waiting = [&](std::uint32_t number) { return load_state(turns.slot[number]) == TurnState::waiting; };
    const auto can_go_on = [&](std::uint32_t number) {
        return number == sleeper || (is_waiting(number) && turns.slot[number].watches != TurnWatch::no);
    };
    if (any_slot(turns, is_waiting) && !waits_for_outside(turns) && !any_slot(turns, can_go_on))
        report_deadlock(engine);
    __atomic_store_n(&turns.holder, 0, __ATOMIC_SEQ_CST);
    for_each_slot(turns, [&](std::uint32_t number) {
        TurnSlot& slot = turns.slot[number];
        if (load_state(slot) != TurnState::waiting || (slot.watches == TurnWatch::no && number != sleeper)) return;
        std::uint32_t none = run::kTurnNone;
        if (__atomic_compare_exchange_n(&slot.turn, &none, std::uint32_t{run::kTurnWatch}, false, __ATOMIC_SEQ_CST,
                                        __ATOMIC_SEQ_CST))
            wake_sleeper(slot);
    });
    // A thread that arrived before `holder` was 0 has not taken the turn, so it gets it now.
    for_each_slot(turns, [&](std::uint32_t number) {
        if (load_state(turns.slot[number]) == TurnState::arriving && take_turn_from(turns, 0, number))
            give(engine, number);
    });
}

/// A file of /proc about the slot's thread; empty if it can't be read.
std::string_view read_task_file(const TurnSlot& slot, std::string_view file, std::span<char> room) {
    Line path;
    path.text("/proc/").decimal(slot.pid).text("/task/").decimal(slot.tid).text(file);
    char name[64] = {};
    std::ranges::copy(path.view().substr(0, sizeof name - 1), name);
    const long fd = kernel_call(__NR_open, address_of(name), O_RDONLY | O_CLOEXEC);
    if (is_error(fd)) return {};
    const long length = kernel_call(__NR_read, static_cast<std::uint64_t>(fd), address_of(room.data()), room.size());
    kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
    return {room.data(), static_cast<std::size_t>(std::max(length, 0l))};
}

/// The thread's state as in /proc/PID/stat: R if it runs or can run, D if it waits for a disk; 0: unknown.
char state_of_task(const TurnSlot& slot) {
    char text[128];
    const std::string_view line = read_task_file(slot, "/stat", text);
    const std::size_t name_end = line.rfind(')');
    return name_end != std::string_view::npos && name_end + 2 < line.size() ? line[name_end + 2] : '\0';
}

/// How long the thread has run, in ns; 0 on a kernel without schedstat.
std::uint64_t run_ns_of(const TurnSlot& slot) {
    char text[64];
    std::uint64_t ns = 0;
    for (const char c : read_task_file(slot, "/schedstat", text)) {
        if (c < '0' || c > '9') break;
        ns = ns * 10 + static_cast<unsigned>(c - '0');
    }
    return ns;
}

/// Whether the holder seems to wait in the kernel for another thread of the run: it has not run for half a second, or
/// for half a minute if it waits for a disk. A running thread also sleeps for moments (a lock of the kernel, a page of
/// a file). If one look were enough, such a moment would decide which thread is next.
bool is_stuck(const TurnSlot& slot, HolderWatch& watch) {
    constexpr unsigned kPatience = 5;
    constexpr unsigned kPatienceWithDisks = 300;
    if (watch.looks < kPatience) return false;
    // A new thread has no id while its parent is stopped in the call that has made it.
    if (slot.tid == 0) return watch.looks >= 2 * kPatience;
    const char state = state_of_task(slot);
    const std::uint64_t run_ns = run_ns_of(slot);
    const bool slept = state != 'R' && state != '\0' && run_ns == watch.run_ns;
    watch.asleep = slept ? watch.asleep + 1 : 0;
    watch.run_ns = run_ns;
    return watch.asleep >= (state == 'D' ? kPatienceWithDisks : kPatience);
}

/// Whether the thread has found that nothing outside of the run can end its wait.
bool is_closed(const TurnSlot& slot) {
    TurnClosed closed = TurnClosed::no;
    __atomic_load(&slot.closed, &closed, __ATOMIC_SEQ_CST);
    return closed != TurnClosed::no;
}

}  // namespace

void report_if_deadlocked(Engine& engine, std::uint32_t self) {
    Turns& turns = *engine.turns;
    const auto may_go_on = [&](std::uint32_t number) {
        const TurnSlot& slot = turns.slot[number];
        const TurnState state = load_state(slot);
        if (state == TurnState::free || state == TurnState::ended) return false;
        const bool waits = state == TurnState::waiting && (slot.watches == TurnWatch::no || is_closed(slot));
        return !waits || wakes_at(slot) != run::kNoDeadline;
    };
    const auto is_first = [&](std::uint32_t number) {
        return number < self && load_state(turns.slot[number]) == TurnState::waiting && is_closed(turns.slot[number]);
    };
    const auto is_stopped = [&](std::uint32_t number) {
        const char state = state_of_task(turns.slot[number]);
        return load_state(turns.slot[number]) == TurnState::waiting && (state == 'T' || state == 't');
    };
    if (any_slot(turns, may_go_on) || any_slot(turns, is_first) || any_slot(turns, is_stopped)) return;
    report_deadlock(engine);
}

/// xorshift64* (Vigna, An experimental exploration of Marsaglia's xorshift generators, 2016).
std::uint64_t draw(Turns& turns) {
    turns.random ^= turns.random >> 12;
    turns.random ^= turns.random << 25;
    turns.random ^= turns.random >> 27;
    return turns.random * 0x2545f4914f6cdd1dull;
}

// Threads that meet often would have one order for every seed if all turns were long, so one in eight is short: by
// chance, since every eighth turn of four or eight threads would be the same one's. With priorities the lengths and
// shares are those that rr's authors found to show the most races (chaos mode, Scheduler.cc).
//
// A thread that only computes has longer turns after a while: a turn of four million instructions is a quarter of a
// millisecond of a fast CPU, and a switch costs some 15 us with what it evicts.
std::uint64_t draw_length(Engine& engine, const TurnSlot& slot) {
    constexpr std::uint64_t kMean = 4'000'000;
    constexpr std::uint64_t kShort = 20'000;
    constexpr unsigned kShortBits = 61;
    constexpr std::uint32_t kTurnsPerDoubling = 16;
    constexpr std::uint32_t kMostDoubled = 2;
    Turns& turns = *engine.turns;
    const std::uint64_t random = draw(turns);
    if (engine.run->has_priorities != 0) {
        const std::uint64_t kind = draw(turns) % 10;
        if (kind < 2) return 1 + random % (kind == 0 ? 100 : 10'000);
    }
    if (random >> kShortBits == 0) return 1 + random % kShort;
    const std::uint32_t doubled = std::min(slot.used_up / kTurnsPerDoubling, kMostDoubled);
    return (kMean / 2 + random % kMean) << doubled;
}

// A thread that waits in a loop for another one ends all its turns in the same few bytes of code. They stay short.
void note_used_up(TurnSlot& slot, std::uint64_t pc) {
    constexpr std::uint64_t kFewBytes = 64;
    constexpr std::uint32_t kTakenBack = 2;
    const bool loops = pc / kFewBytes == slot.last_end / kFewBytes;
    slot.last_end = pc;
    slot.used_up = loops ? slot.used_up - std::min(slot.used_up, kTakenBack) : slot.used_up + 1;
}

std::uint32_t draw_priority(Engine& engine, bool first) {
    if (engine.run->has_priorities == 0) return 0;
    return draw(*engine.turns) % 10 < (first ? 3 : 1) ? 1 : 0;
}

void notify(TurnSlot& slot, std::uint32_t word) {
    __atomic_store_n(&slot.turn, word, __ATOMIC_SEQ_CST);
    wake_sleeper(slot);
}

void interrupt_for_turns(const TurnSlot& slot) {
    x86_64::SignalInfo info{};
    info.signo = kTrap;
    info.code = run::kSafepointSignalCode;
    kernel_call(__NR_rt_tgsigqueueinfo, static_cast<std::uint64_t>(slot.pid), static_cast<std::uint64_t>(slot.tid),
                kTrap, address_of(&info));
}

void sleep_on_turn(TurnSlot& slot, std::int64_t ns) {
    __atomic_store_n(&slot.asleep, 1u, __ATOMIC_SEQ_CST);
    sleep_on(slot.turn, run::kTurnNone, ns);
    __atomic_store_n(&slot.asleep, 0u, __ATOMIC_RELAXED);
}

void sleep_on(std::uint32_t& word, std::uint32_t value, std::int64_t ns) {
    const timespec time{ns / kNsOfSecond, ns % kNsOfSecond};
    kernel_call(__NR_futex, address_of(&word), FUTEX_WAIT, value, address_of(&time));
}

bool pass_on(Engine& engine, std::uint32_t self) {
    const std::uint32_t who = next(engine);
    if (who == 0) {
        release_turn(engine);
        return false;
    }
    if (who == self) {
        ++engine.turns->turns;
        store_state(engine.turns->slot[self], TurnState::running);
        return true;
    }
    give(engine, who);
    return false;
}

bool arrive(Engine& engine, std::uint32_t self) {
    Turns& turns = *engine.turns;
    store_state(turns.slot[self], TurnState::arriving);
    __atomic_store_n(&turns.others_ready, 1u, __ATOMIC_SEQ_CST);
    if (!take_turn_from(turns, 0, self)) return false;
    ++turns.turns;
    store_state(turns.slot[self], TurnState::running);
    return true;
}

bool is_first_deadline(const Turns& turns, std::uint32_t self) {
    return first_deadline(turns) == self;
}

// The turn comes first, then the look at the deadlines. If each thread decided by itself that its deadline is the next,
// it could do so between the end of another thread's wait and that one's turn, and advance the clock that the other one
// is about to see.
bool end_first_wait(Engine& engine, std::uint32_t self, std::uint64_t now) {
    Turns& turns = *engine.turns;
    if (!take_turn_from(turns, 0, self)) return false;
    const std::uint32_t first = first_deadline(turns);
    if (first != 0 && wakes_at(turns.slot[first]) <= now) advance_clock(engine, wakes_at(turns.slot[first]));
    return pass_on(engine, self);
}

bool await_process_end(std::int32_t pid) {
    const auto id = static_cast<std::uint64_t>(pid);
    const long fd = kernel_call(__NR_pidfd_open, id, 0);
    bool ended = true;
    if (!is_error(fd)) {
        constexpr std::uint64_t kPatience = 1000;  // ms; a tracer may hold it
        pollfd about{static_cast<int>(fd), POLLIN, 0};
        long ready = 0;
        while ((ready = kernel_call(__NR_poll, address_of(&about), 1, kPatience)) == -EINTR) {
        }
        ended = ready != 0;
        kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
    }
    // The parent's signal is sent while the list of tasks is locked for writing; this waits for that (do_wait() in
    // kernel/exit.c locks it for reading).
    siginfo_t nobody;
    kernel_call(__NR_waitid, P_ALL, 0, address_of(&nobody), WNOHANG | WEXITED | WNOWAIT);
    return ended;
}

namespace {

/// Waits until the process of the slot has ended. After the end of the run's first process anyperf takes the counts, so
/// threads that are left wait until it has ended, too, or a second: what they execute meanwhile would be counted or not
/// by chance.
void await_end_of_process(const Turns& turns, const TurnSlot& slot) {
    await_process_end(slot.pid);
    const bool was_first = slot.shown_pid == run::kFirstShownId + 1;
    if (was_first && turns.shown_ids != 0 && turns.real_id[0] > 1) await_process_end(turns.real_id[0]);
}

}  // namespace

void await_thread_end(Engine& engine) {
    Turns& turns = *engine.turns;
    const std::uint32_t leaving = turns.leaving;
    if (leaving == 0 || leaving > run::kTurnSlots) return;
    TurnSlot& slot = turns.slot[leaving];
    constexpr std::int64_t kLook = 5'000'000;
    constexpr unsigned kLooks = 200;
    if (turns.leaving_process != 0) {
        await_end_of_process(turns, slot);
    } else {
        for (unsigned looks = 0; looks < kLooks && __atomic_load_n(&slot.alive, __ATOMIC_SEQ_CST) != 0; ++looks) {
            sleep_on(slot.alive, 1, kLook);
            if (looks > 0 && run::yield_and_check_gone(slot.tid)) break;
        }
    }
    turns.leaving = turns.leaving_process = 0;
    store_state(slot, TurnState::free);
}

void free_process_slots(Engine& engine, std::int32_t pid) {
    Turns& turns = *engine.turns;
    for_each_slot(turns, [&](std::uint32_t number) {
        TurnSlot& slot = turns.slot[number];
        if (slot.pid != pid || load_state(slot) == TurnState::free) return;
        release_vfork_parent(engine, slot);
        store_state(slot, TurnState::free);
    });
    for_each_slot(turns, [&](std::uint32_t number) {
        if (turns.slot[number].wait == TurnWait::child) make_ready(engine, number, TurnEnd::woken);
    });
    wake_descriptors(engine, 0);
}

void check_holder(Engine& engine, std::uint32_t self, HolderWatch& watch) {
    Turns& turns = *engine.turns;
    const std::uint64_t given = __atomic_load_n(&turns.turns, __ATOMIC_RELAXED);
    if (given != watch.turns) watch = {.turns = given};
    const std::uint32_t holder = __atomic_load_n(&turns.holder, __ATOMIC_SEQ_CST);
    if (holder == self || holder > run::kTurnSlots || watch.looks++ == 0) return;
    if (holder == 0) {
        if (load_state(turns.slot[self]) == TurnState::ready && take_turn_from(turns, 0, self)) pass_on(engine, 0);
        return;
    }
    TurnSlot& slot = turns.slot[holder];
    const bool gone = slot.tid != 0 && run::yield_and_check_gone(slot.tid);
    if (!gone && (slot.holds_on != 0 || !is_stuck(slot, watch))) return;
    if (!take_turn_from(turns, holder, self)) return;
    // Meanwhile the turn may have come to another thread that has got the slot of one that ended. It gets it back.
    if (__atomic_load_n(&turns.turns, __ATOMIC_SEQ_CST) != given) {
        take_turn_from(turns, self, holder);
        return;
    }
    __atomic_store_n(&slot.turn, std::uint32_t{run::kTurnNone}, __ATOMIC_SEQ_CST);
    store_state(slot, TurnState::outside);
    if (gone) {
        await_end_of_process(turns, slot);  // its parent's signal is sent by then
        free_process_slots(engine, slot.pid);
        // The kernel has released its robust futexes, but does not know their waiters here, so all waiters check again.
        for_each_slot(turns, [&](std::uint32_t number) {
            if (turns.slot[number].wait == TurnWait::futex || turns.slot[number].wait == TurnWait::futexes)
                make_ready(engine, number, TurnEnd::woken);
        });
    }
    wake_parents(engine);  // it may have stopped for one that traces it
    pass_on(engine, 0);
}

}  // namespace anyperf::engine::turns

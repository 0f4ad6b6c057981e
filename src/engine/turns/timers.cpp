#include "engine/turns/timers.h"

#include <asm/unistd.h>
#include <errno.h>
#include <poll.h>
#include <sys/timerfd.h>
#include <time.h>

#include <algorithm>

#include "engine/freestanding/pages.h"
#include "engine/hooks.h"
#include "engine/signals/engine_signals.h"
#include "engine/time/virtual_clock.h"
#include "engine/turns/sent_signals.h"
#include "engine/turns/turn_length.h"
#include "engine/turns/wakes.h"

namespace anyperf::engine::turns {

namespace {

constexpr std::size_t kMost = 256;
constexpr int kAlarmSignal = 14;          // SIGALRM
constexpr std::int32_t kByKernel = 0x80;  // SI_KERNEL
constexpr std::int32_t kByTimer = -2;     // SI_TIMER

/// Those of all processes that share the memory. A fork's child has a copy.
struct Timers {
    std::size_t count;
    Timer timer[kMost];
};

Timers* timers_of(const Engine& engine) {
    return static_cast<Timers*>(engine.timers);
}

template <class Function>
void for_each_timer_of(const Engine& engine, std::int32_t process, Function function) {
    Timers* const all = timers_of(engine);
    for (std::size_t i = 0; all != nullptr && i < all->count; ++i) {
        Timer& timer = all->timer[i];
        if (timer.kind != TimerKind::none && timer.process == process) function(timer);
    }
}

template <class Function>
void for_each_timer(const Thread& thread, Function function) {
    for_each_timer_of(*thread.engine, slot_of(thread).pid, function);
}

std::uint64_t cpu_units(Thread& thread) {
    return process_cpu_ns(thread) * kUnitsOfNanosecond;
}

/// Sends the timer's signal to this process. A process may give its own signals any code (rt_sigqueueinfo(2)).
void send(Thread& thread, const Timer& timer) {
    if (timer.signal == 0) return;
    x86_64::SignalInfo info{};
    info.signo = timer.signal;
    info.code = timer.kind == TimerKind::posix ? kByTimer : kByKernel;
    if (timer.kind == TimerKind::posix) {
        info.address = static_cast<std::uint32_t>(timer.id);  // si_timerid, and si_overrun 0
        __builtin_memcpy(info.rest, &timer.value, sizeof timer.value);
    }
    const std::int32_t pid = slot_of(thread).pid;
    const auto process = static_cast<std::uint64_t>(pid);
    const auto signal = static_cast<std::uint64_t>(timer.signal);
    expect_signal(thread, pid, timer.thread, timer.signal);
    if (timer.thread != 0)
        kernel_call(__NR_rt_tgsigqueueinfo, process, static_cast<std::uint64_t>(timer.thread), signal,
                    address_of(&info));
    else
        kernel_call(__NR_rt_sigqueueinfo, process, signal, address_of(&info));
    note_signal(thread, pid, timer.thread, timer.signal);
}

/// Has the kernel make the timer descriptor readable. False: the descriptor is something else by now.
bool make_readable(const Timer& timer) {
    const itimerspec soon{{0, 0}, {0, 1}};
    const auto fd = static_cast<std::uint64_t>(timer.id);
    if (is_error(kernel_call(__NR_timerfd_settime, fd, 0, address_of(&soon), 0))) return false;
    constexpr std::uint64_t kPatience = 1000;  // ms
    pollfd about{timer.id, POLLIN, 0};
    while (kernel_call(__NR_poll, address_of(&about), 1, kPatience) == -EINTR) {
    }
    return true;
}

/// The timer has expired, perhaps several times.
void expire(Thread& thread, Timer& timer, std::uint64_t now, bool& readable) {
    std::uint64_t times = 1;
    if (timer.interval == 0) {
        timer.deadline = run::kNoDeadline;
    } else {
        times += (now - timer.deadline) / timer.interval;
        timer.deadline += times * timer.interval;
    }
    if (timer.kind != TimerKind::descriptor) return send(thread, timer);
    timer.expired += times;
    if (make_readable(timer))
        readable = true;
    else
        timer = {};
}

/// When a timer of the process expires at the latest: by the run's clock, as CPU time is not more.
std::uint64_t first_expiry(Thread& thread) {
    std::uint64_t first = run::kNoDeadline;
    for_each_timer(thread, [&](const Timer& timer) {
        if (!is_cpu_clock(timer.clock)) first = std::min(first, timer.deadline);
    });
    return first;
}

}  // namespace

bool is_cpu_clock(std::int32_t clock) {
    return clock < 0 || clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID;
}

std::uint64_t timer_now(Thread& thread, const Timer& timer) {
    return is_cpu_clock(timer.clock) ? cpu_units(thread) : look_at_clock(thread);
}

Timer* find_timer(const Thread& thread, TimerKind kind, std::int32_t id) {
    Timer* found = nullptr;
    for_each_timer(thread, [&](Timer& timer) {
        if (timer.kind == kind && timer.id == id) found = &timer;
    });
    return found;
}

Timer* make_timer(const Thread& thread, TimerKind kind, std::int32_t id) {
    if (Timer* const there = find_timer(thread, kind, id); there != nullptr) return there;
    Engine& engine = *thread.engine;
    if (engine.timers == nullptr) engine.timers = reserve_pages(page_up(sizeof(Timers)));
    Timers* const all = timers_of(engine);
    if (all == nullptr) return nullptr;
    Timer* const free = std::find_if(all->timer, all->timer + all->count,
                                     [](const Timer& timer) { return timer.kind == TimerKind::none; });
    if (free == all->timer + kMost) return nullptr;
    if (free == all->timer + all->count) ++all->count;
    *free = {
        .kind = kind, .process = slot_of(thread).pid, .id = id, .signal = kAlarmSignal, .deadline = run::kNoDeadline};
    return free;
}

void update_timers(Thread& thread) {
    Engine& engine = *thread.engine;
    Turns& turns = *engine.turns;
    const std::uint64_t first = first_expiry(thread);
    const Timer* const alarm = find_timer(thread, TimerKind::interval_real, 0);
    for_each_slot(turns, [&](std::uint32_t number) {
        TurnSlot& slot = turns.slot[number];
        if (slot.pid != slot_of(thread).pid || load_state(slot) == TurnState::free) return;
        slot.timer = first;
        slot.alarm = alarm != nullptr ? alarm->deadline : run::kNoDeadline;
        slot.alarm_interval = alarm != nullptr ? alarm->interval : 0;
    });
    const std::uint64_t left = until_timer(thread);
    if (left != run::kNoDeadline) limit_turn(thread, left, x86_64::retired_by(thread));
}

void forget_timers(Thread& thread) {
    const std::int32_t process = slot_of(thread).pid;
    Timers* const all = timers_of(*thread.engine);
    for (std::size_t i = 0; all != nullptr && i < all->count; ++i) {
        Timer& timer = all->timer[i];
        const bool is_parents = timer.process == slot_of(thread).parent_pid;
        timer = is_parents && timer.kind == TimerKind::descriptor ? timer : Timer{};
        timer.process = process;
    }
    slot_of(thread).timer = first_expiry(thread);
    slot_of(thread).alarm = 0;
}

void forget_timers_of(const Engine& engine, std::int32_t process) {
    for_each_timer_of(engine, process, [](Timer& timer) { timer = {}; });
}

void keep_interval_timer(Thread& thread) {
    TurnSlot& slot = slot_of(thread);
    const std::uint64_t deadline = slot.alarm;
    const std::uint64_t interval = slot.alarm_interval;
    slot.timer = run::kNoDeadline;
    if (deadline == 0 || deadline == run::kNoDeadline) return;
    Timer* const timer = make_timer(thread, TimerKind::interval_real, 0);
    if (timer == nullptr) return;
    timer->clock = CLOCK_MONOTONIC;
    timer->deadline = deadline;
    timer->interval = interval;
    update_timers(thread);
}

bool fire_timers(Thread& thread) {
    if (thread.engine->timers == nullptr) return false;
    bool readable = false;
    bool any = false;
    for_each_timer(thread, [&](Timer& timer) {
        if (timer.deadline == run::kNoDeadline) return;
        const std::uint64_t now = timer_now(thread, timer);
        if (timer.deadline > now) return;
        any = true;
        expire(thread, timer, now, readable);
    });
    if (readable) wake_descriptors(*thread.engine, 0);
    if (any) update_timers(thread);
    return readable;
}

std::uint64_t until_timer(Thread& thread) {
    std::uint64_t least = run::kNoDeadline;
    if (thread.engine->timers == nullptr) return least;
    for_each_timer(thread, [&](const Timer& timer) {
        if (timer.deadline == run::kNoDeadline) return;
        const std::uint64_t now = timer_now(thread, timer);
        least = std::min(least, timer.deadline > now ? (timer.deadline - now) / kUnitsOfInstruction : 0);
    });
    return least;
}

}  // namespace anyperf::engine::turns

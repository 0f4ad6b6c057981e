// timers.cpp: timers that the kernel keeps, in a deterministic run. They expire after real time. The kernel does not
// know the run's clock (time/virtual_clock.h). So a timer with an absolute time is set to the time that remains until
// then on that clock.
#include <asm/unistd.h>
#include <time.h>

#include <algorithm>

#include "engine/syscalls/handlers.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::handlers {

namespace {

/// TIMER_ABSTIME of timer_settime(2), TFD_TIMER_ABSTIME of timerfd_settime(2).
constexpr std::uint64_t kAbsolute = 1;

/// What remains until `time`. The engine does not know which clock the timer has, but `time` shows it: CLOCK_REALTIME
/// counts from 1970 and the other clocks from the machine's start, which are decades apart.
timespec remaining_until(Thread& thread, const timespec& time) {
    const Engine& engine = *thread.engine;
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(ns_of(time), 0));
    const std::int32_t clock = ns >= engine.run->epoch_ns / 2 ? CLOCK_REALTIME : CLOCK_MONOTONIC;
    const std::uint64_t until = units_at(engine, clock, ns);
    const std::uint64_t now = look_at_clock(thread);
    // At least 1: 0 would disarm the timer, but one that is due must expire at once.
    const std::uint64_t left = until > now ? std::max<std::uint64_t>((until - now) / kUnitsOfNanosecond, 1) : 1;
    constexpr auto kSecond = static_cast<std::uint64_t>(kNsOfSecond);
    return {static_cast<time_t>(left / kSecond), static_cast<long>(left % kSecond)};
}

}  // namespace

long set_timer(Call& call) {
    if (!has_virtual_clock(call.engine)) return call.pass_to_kernel();
    const bool is_descriptor = call.number == __NR_timerfd_settime;
    if (!is_descriptor) call.engine.has_real_timer = true;
    itimerspec timer{};
    const bool has_flags = is_descriptor || call.number == __NR_timer_settime;
    if (!has_flags || (call.argument[1] & kAbsolute) == 0 ||
        !x86_64::guarded_copy(&timer, at_address<const void>(call.argument[2]), sizeof timer))
        return call.pass_to_kernel();
    const bool arms = timer.it_value.tv_sec != 0 || timer.it_value.tv_nsec != 0;
    if (arms && ns_of(timer.it_value) >= 0) timer.it_value = remaining_until(call.thread, timer.it_value);
    call.argument[1] &= ~kAbsolute;
    call.argument[2] = address_of(&timer);
    return call.pass_to_kernel();
}

}  // namespace anyperf::engine::handlers

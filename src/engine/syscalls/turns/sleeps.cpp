// sleeps.cpp: calls that wait for time only, and those that give the turn away.
#include <errno.h>
#include <time.h>

#include <algorithm>

#include "engine/signals/deliver.h"
#include "engine/syscalls/turn_calls.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::turn_calls {

namespace {

/// Sleeps of more than 50 years end there: the clock of the run never comes to its own end.
constexpr std::int64_t kLongest = std::int64_t{50} * 366 * 24 * 3600 * kNsOfSecond;

long sleep_until(Call& call, std::uint64_t deadline, std::uint64_t remaining) {
    long answer = 0;
    const turns::Wait wait{.kind = run::TurnWait::time, .deadline = deadline};
    if (wait_or_interrupt(call.thread, wait, false, answer) != Ended::interrupted) return 0;
    if (answer == -EINTR && remaining != 0) store_remaining(call.thread, remaining, deadline, false);
    return answer;
}

}  // namespace

std::uint64_t units_from_now(Thread& thread, std::int64_t ns) {
    return look_at_clock(thread) + static_cast<std::uint64_t>(std::min(ns, kLongest)) * kUnitsOfNanosecond;
}

bool deadline_after(Thread& thread, std::uint64_t place, std::uint64_t& deadline, long& answer) {
    timespec time{};
    deadline = run::kNoDeadline;
    if (place == 0) return true;
    answer = -EFAULT;
    if (!x86_64::guarded_copy(&time, at_address<const void>(place), sizeof time)) return false;
    answer = -EINVAL;
    if (ns_of(time) < 0) return false;
    deadline = units_from_now(thread, ns_of(time));
    return true;
}

void store_remaining(Thread& thread, std::uint64_t place, std::uint64_t deadline, bool microseconds) {
    const std::uint64_t now = look_at_clock(thread);
    const std::uint64_t left = deadline > now ? (deadline - now) / kUnitsOfNanosecond : 0;
    constexpr auto kSecond = static_cast<std::uint64_t>(kNsOfSecond);
    timespec time{static_cast<time_t>(left / kSecond), static_cast<long>(left % kSecond)};
    if (microseconds) time.tv_nsec /= 1000;
    x86_64::guarded_copy(at_address<void>(place), &time, sizeof time);
}

bool nanosleep(Call& call, long& answer) {
    std::uint64_t deadline = 0;
    answer = -EFAULT;
    if (call.argument[0] == 0 || !deadline_after(call.thread, call.argument[0], deadline, answer)) return true;
    answer = sleep_until(call, deadline, call.argument[1]);
    return true;
}

bool clock_nanosleep(Call& call, long& answer) {
    const auto clock = static_cast<std::int32_t>(call.argument[0]);
    std::uint64_t ns = 0;
    // A thread can't sleep by its own CPU time, which does not advance meanwhile: the kernel answers EINVAL.
    const bool advances = clock >= 0 && clock != CLOCK_THREAD_CPUTIME_ID && clock != CLOCK_PROCESS_CPUTIME_ID;
    if (!advances || !virtual_time(call.thread, clock, 0, ns)) return false;
    std::uint64_t deadline = 0;
    answer = -EFAULT;
    if (call.argument[2] == 0 || !deadline_after(call.thread, call.argument[2], deadline, answer)) return true;
    const bool absolute = (call.argument[1] & TIMER_ABSTIME) != 0;
    timespec time{};
    if (absolute && x86_64::guarded_copy(&time, at_address<const void>(call.argument[2]), sizeof time))
        deadline = std::min(units_at(call.engine, clock, static_cast<std::uint64_t>(ns_of(time))),
                            units_from_now(call.thread, kLongest));
    answer = sleep_until(call, deadline, absolute ? 0 : call.argument[3]);
    return true;
}

bool sched_yield(Call& call, long& answer) {
    turns::pass(call.thread);
    answer = 0;
    return true;
}

}  // namespace anyperf::engine::turn_calls

// timer_calls.cpp: calls that set timers, of threads that take turns (engine/turns/timers.h). The kernel gives out the
// ids and descriptors, and checks the arguments; it has no timer armed.
#include <errno.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <time.h>

#include <algorithm>

#include "engine/syscalls/turn_calls.h"
#include "engine/time/virtual_clock.h"
#include "engine/turns/timers.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::turn_calls {

namespace {

using turns::Timer;
using turns::TimerKind;

constexpr std::int64_t kNsOfMicrosecond = 1000;
constexpr std::uint64_t kAbsolute = 1;  // TIMER_ABSTIME and TFD_TIMER_ABSTIME
constexpr std::int64_t kLongest = std::int64_t{50} * 366 * 24 * 3600 * kNsOfSecond;

std::uint64_t units_of(std::int64_t ns) {
    return static_cast<std::uint64_t>(std::min(ns, kLongest)) * kUnitsOfNanosecond;
}

/// What remains of a timer, and its interval, in ns.
struct Setting {
    std::int64_t value = 0;
    std::int64_t interval = 0;
};

Setting setting_of(Thread& thread, const Timer* timer) {
    if (timer == nullptr) return {};
    Setting now;
    now.interval = static_cast<std::int64_t>(timer->interval / kUnitsOfNanosecond);
    if (timer->deadline == run::kNoDeadline) return now;
    const std::uint64_t clock = turns::timer_now(thread, *timer);
    // One that is due and has not been sent yet has a last nanosecond.
    now.value = timer->deadline > clock + kUnitsOfNanosecond
                    ? static_cast<std::int64_t>((timer->deadline - clock) / kUnitsOfNanosecond)
                    : 1;
    return now;
}

void arm(Thread& thread, Timer& timer, const Setting& setting, bool absolute) {
    timer.interval = units_of(setting.interval);
    timer.expired = 0;
    if (setting.value == 0) {
        timer.deadline = run::kNoDeadline;
    } else if (absolute && !turns::is_cpu_clock(timer.clock)) {
        timer.deadline = std::min(units_at(*thread.engine, timer.clock, static_cast<std::uint64_t>(setting.value)),
                                  units_from_now(thread, kLongest));
    } else {
        timer.deadline = (absolute ? 0 : turns::timer_now(thread, timer)) + units_of(setting.value);
    }
    turns::update_timers(thread);
}

timespec time_of(std::int64_t ns) {
    return {ns / kNsOfSecond, ns % kNsOfSecond};
}

itimerspec specification_of(const Setting& setting) {
    return {time_of(setting.interval), time_of(setting.value)};
}

/// ITIMER_REAL, ITIMER_VIRTUAL or ITIMER_PROF; null: there is none.
Timer* interval_timer(const Thread& thread, std::uint64_t which) {
    constexpr int kSignals[] = {14, 26, 27};  // SIGALRM, SIGVTALRM, SIGPROF
    const bool real = which == ITIMER_REAL;
    Timer* const timer = turns::make_timer(thread, real ? TimerKind::interval_real : TimerKind::interval_cpu,
                                           static_cast<std::int32_t>(which));
    if (timer == nullptr) return nullptr;
    timer->clock = real ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
    timer->signal = kSignals[which];
    return timer;
}

bool is_valid(const timeval& time) {
    return time.tv_sec >= 0 && time.tv_usec >= 0 && time.tv_usec < 1'000'000;
}

std::int64_t ns_of(const timeval& time) {
    return std::min<std::int64_t>(time.tv_sec, kLongest / kNsOfSecond) * kNsOfSecond + time.tv_usec * kNsOfMicrosecond;
}

itimerval values_of(const Setting& setting) {
    // A timer that is armed never shows 0 (itimer_get_remtime() in kernel/time/itimer.c).
    const auto time = [](std::int64_t ns) {
        const std::int64_t us = ns == 0 ? 0 : std::max<std::int64_t>(ns / kNsOfMicrosecond, 1);
        return timeval{us / 1'000'000, us % 1'000'000};
    };
    return {time(setting.interval), time(setting.value)};
}

/// The setting in a struct itimerspec of the application.
bool read_setting(std::uint64_t place, Setting& setting, long& answer) {
    itimerspec wanted{};
    answer = -EFAULT;
    if (!x86_64::guarded_read(place, wanted)) return false;
    answer = -EINVAL;
    setting.value = engine::ns_of(wanted.it_value);
    setting.interval = engine::ns_of(wanted.it_interval);
    return setting.value >= 0 && setting.interval >= 0;
}

}  // namespace

bool alarm(Call& call, long& answer) {
    Timer* const timer = interval_timer(call.thread, ITIMER_REAL);
    if (timer == nullptr) return false;
    const Setting before = setting_of(call.thread, timer);
    answer = (before.value + kNsOfSecond / 2) / kNsOfSecond;  // alarm_setitimer() in kernel/time/itimer.c rounds
    if (before.value != 0 && answer == 0) answer = 1;
    arm(call.thread, *timer, {static_cast<std::int64_t>(static_cast<std::uint32_t>(call.argument[0])) * kNsOfSecond, 0},
        false);
    return true;
}

bool setitimer(Call& call, long& answer) {
    itimerval wanted{};
    answer = -EINVAL;
    if (call.argument[0] > ITIMER_PROF) return true;
    answer = -EFAULT;
    if (call.argument[1] != 0 && !x86_64::guarded_read(call.argument[1], wanted)) return true;
    answer = -EINVAL;
    if (!is_valid(wanted.it_value) || !is_valid(wanted.it_interval)) return true;
    Timer* const timer = interval_timer(call.thread, call.argument[0]);
    if (timer == nullptr) return false;
    const itimerval before = values_of(setting_of(call.thread, timer));
    arm(call.thread, *timer, {ns_of(wanted.it_value), ns_of(wanted.it_interval)}, false);
    answer = call.argument[2] != 0 && !x86_64::guarded_write(call.argument[2], before) ? -EFAULT : 0;
    return true;
}

bool getitimer(Call& call, long& answer) {
    answer = -EINVAL;
    if (call.argument[0] > ITIMER_PROF) return true;
    const Timer* const timer = interval_timer(call.thread, call.argument[0]);
    answer = x86_64::guarded_write(call.argument[1], values_of(setting_of(call.thread, timer))) ? 0 : -EFAULT;
    return true;
}

void after_timer_create(Call& call, long) {
    constexpr std::int32_t kNoSignal = 1;  // SIGEV_NONE
    constexpr std::int32_t kToThread = 4;  // SIGEV_THREAD_ID
    struct {                               // struct sigevent
        std::uint64_t value;
        std::int32_t signal, notify, thread;
    } event{};
    std::int32_t id = 0;
    if (!x86_64::guarded_read(call.argument[2], id)) return;
    Timer* const timer = turns::make_timer(call.thread, TimerKind::posix, id);
    if (timer == nullptr) return;
    timer->clock = static_cast<std::int32_t>(call.argument[0]);
    timer->value = static_cast<std::uint32_t>(id);
    if (call.argument[1] == 0 || !x86_64::guarded_read(call.argument[1], event)) return;
    timer->value = event.value;
    timer->signal = event.notify == kNoSignal ? 0 : event.signal;
    timer->thread = event.notify == kToThread ? event.thread : 0;
}

bool timer_settime(Call& call, long& answer) {
    Timer* const timer = turns::find_timer(call.thread, TimerKind::posix, static_cast<std::int32_t>(call.argument[0]));
    if (timer == nullptr) return false;
    Setting setting;
    if (!read_setting(call.argument[2], setting, answer)) return true;
    const itimerspec before = specification_of(setting_of(call.thread, timer));
    arm(call.thread, *timer, setting, (call.argument[1] & kAbsolute) != 0);
    answer = call.argument[3] != 0 && !x86_64::guarded_write(call.argument[3], before) ? -EFAULT : 0;
    return true;
}

bool timer_gettime(Call& call, long& answer) {
    Timer* const timer = turns::find_timer(call.thread, TimerKind::posix, static_cast<std::int32_t>(call.argument[0]));
    if (timer == nullptr) return false;
    answer = x86_64::guarded_write(call.argument[1], specification_of(setting_of(call.thread, timer))) ? 0 : -EFAULT;
    return true;
}

bool timer_delete(Call& call, long&) {
    Timer* const timer = turns::find_timer(call.thread, TimerKind::posix, static_cast<std::int32_t>(call.argument[0]));
    if (timer == nullptr) return false;
    *timer = {};
    turns::update_timers(call.thread);
    return false;
}

void after_timerfd_create(Call& call, long fd) {
    Timer* const timer = turns::make_timer(call.thread, TimerKind::descriptor, static_cast<std::int32_t>(fd));
    if (timer == nullptr) return;
    timer->clock = static_cast<std::int32_t>(call.argument[0]);
    timer->deadline = run::kNoDeadline;
    timer->interval = timer->expired = 0;
    turns::update_timers(call.thread);
}

bool timerfd_settime(Call& call, long& answer) {
    const auto fd = static_cast<std::int32_t>(call.argument[0]);
    Timer* const timer = turns::find_timer(call.thread, TimerKind::descriptor, fd);
    if (timer == nullptr) return false;
    Setting setting;
    if (!read_setting(call.argument[2], setting, answer)) return true;
    // The kernel checks the descriptor and the flags, and what had expired is gone.
    const itimerspec nothing{};
    Call part = call;
    part.argument[2] = address_of(&nothing);
    part.argument[3] = 0;
    answer = part.pass_to_kernel();
    if (answer != 0) return true;
    const itimerspec before = specification_of(setting_of(call.thread, timer));
    arm(call.thread, *timer, setting, (call.argument[1] & kAbsolute) != 0);
    answer = call.argument[3] != 0 && !x86_64::guarded_write(call.argument[3], before) ? -EFAULT : 0;
    return true;
}

bool timerfd_gettime(Call& call, long& answer) {
    const Timer* const timer =
        turns::find_timer(call.thread, TimerKind::descriptor, static_cast<std::int32_t>(call.argument[0]));
    if (timer == nullptr) return false;
    answer = x86_64::guarded_write(call.argument[1], specification_of(setting_of(call.thread, timer))) ? 0 : -EFAULT;
    return true;
}

bool read_timer(Call& call, long& answer) {
    if (call.engine.timers == nullptr) return false;
    Timer* const timer =
        turns::find_timer(call.thread, TimerKind::descriptor, static_cast<std::int32_t>(call.argument[0]));
    if (timer == nullptr || timer->expired == 0 || call.argument[2] < sizeof timer->expired) return false;
    answer = sizeof timer->expired;
    if (!x86_64::guarded_write(call.argument[1], timer->expired)) {
        answer = -EFAULT;
        return true;
    }
    timer->expired = 0;
    const itimerspec nothing{};
    kernel_call(__NR_timerfd_settime, call.argument[0], 0, address_of(&nothing), 0);
    return true;
}

void forget_timer_descriptor(const Thread& thread, std::int32_t fd) {
    if (Timer* const timer = turns::find_timer(thread, TimerKind::descriptor, fd); timer != nullptr) *timer = {};
}

}  // namespace anyperf::engine::turn_calls

// clocks.cpp: see clocks.h. The timer counts CLOCK_MONOTONIC, since timers of CPU time are only looked at by the
// kernel's tick, and is set for as long as the thread would have to run. If it has slept meanwhile, the timer is set
// again; a thread that waits in the kernel sets it when it comes back, so that a wait is disturbed once at most, and
// soon after it has begun.
#include "resident/clocks.h"

#include <signal.h>
#include <time.h>

#include <algorithm>

#include "engine/attached.h"
#include "resident/armed.h"
#include "resident/own_values.h"
#include "resident/request.h"
#include "resident/sampling.h"

namespace anyperf::resident {

using engine::address_of;
using engine::is_error;
using engine::kernel_call;
using subsystem::EventState;
using subsystem::Source;

namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
constexpr std::uint64_t kShortestAlarm = 50'000;     ///< ns: a few looks at a clock, so that its thread gets on
constexpr std::uint64_t kLongestAlarm = 10'000'000;  ///< ns: what a wait may be prolonged by that can't be begun again

bool samples_by_time(const EventPage& event) {
    return event.sampling != 0 && event.state == EventState::active && counts_time(event.source);
}

/// ns to the nearest end of a period.
std::uint64_t time_left(const Thread& thread) {
    std::uint64_t least = kNever;
    for_each_sampling(thread, [&](const EventPage& event, EventIndex) {
        if (!samples_by_time(event)) return;
        const std::uint64_t now = own_value(thread, event.source);
        least = std::min(least, event.overflow_at > now ? event.overflow_at - now : 1);
    });
    return least;
}

bool make_timer(Thread& thread) {
    if (thread.alarm != 0) return true;
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGTRAP;
    event.sigev_value.sival_ptr = engine::at_address<void>(engine::kAlarmValue);
    event._sigev_un._tid = thread.tid;
    std::int32_t timer = 0;
    if (is_error(kernel_call(__NR_timer_create, CLOCK_MONOTONIC, address_of(&event), address_of(&timer)))) return false;
    thread.alarm = static_cast<std::uint32_t>(timer) + 1;
    return true;
}

}  // namespace

bool counts_time(const Source& source) {
    return source.kind == Source::Kind::task_clock || source.kind == Source::Kind::cpu_clock;
}

void set_alarm(Thread& thread) {
    const std::uint64_t left = time_left(thread);
    if (left == kNever) return drop_alarm(thread);
    if (!make_timer(thread)) return;
    itimerspec when{};
    when.it_value.tv_nsec = static_cast<long>(std::clamp(left, kShortestAlarm, kLongestAlarm));
    kernel_call(__NR_timer_settime, thread.alarm - 1, 0, address_of(&when), 0);
}

void drop_alarm(Thread& thread) {
    if (thread.alarm != 0) kernel_call(__NR_timer_delete, thread.alarm - 1);
    thread.alarm = 0;
}

}  // namespace anyperf::resident

namespace anyperf::engine::attached {

void alarmed(Thread& thread) {
    thread.alarmed = false;
    resident::for_each_armed(thread, [&](resident::EventPage& event, resident::EventIndex index) {
        if (resident::samples_by_time(event)) resident::take_overflows(thread, event, index);
    });
    resident::set_alarm(thread);
}

}  // namespace anyperf::engine::attached

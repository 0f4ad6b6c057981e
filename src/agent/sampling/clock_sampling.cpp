// clock_sampling.cpp: the timer counts CLOCK_MONOTONIC, because the kernel checks timers of CPU time only at its tick.
// The timer is set to what is left of the period, as if the thread ran all the time. If the thread has slept meanwhile,
// the period is not over when the timer expires, and the timer is set again. During a system call the timer is not set
// again, so a wait is interrupted at most once, and at most kLongestAlarm after its begin.
#include "agent/sampling/clock_sampling.h"

#include <signal.h>
#include <time.h>

#include <algorithm>

#include "agent/agent_state.h"
#include "agent/broker_request.h"
#include "agent/sampling/active_events.h"
#include "agent/sampling/local_read.h"
#include "agent/sampling/sampling.h"

namespace anyperf::agent {

using engine::address_of;
using engine::is_error;
using engine::kernel_call;
using subsystem::EventState;
using subsystem::Source;

namespace {

constexpr std::uint64_t kNever = ~std::uint64_t{0};
/// ns. Much more than it takes to handle an alarm, so that the thread gets on.
constexpr std::uint64_t kShortestAlarm = 50'000;
/// ns. If the kernel starts an interrupted wait again instead of resuming it, the wait lasts longer by at most this.
constexpr std::uint64_t kLongestAlarm = 10'000'000;

bool samples_by_time(const EventPage& event) {
    return event.sampling != 0 && event.state == EventState::counting && counts_time(event.source);
}

/// ns to the nearest end of a period, at least 1; kNever if no clock samples.
std::uint64_t time_left(const Thread& thread) {
    std::uint64_t least = kNever;
    for_each_sampling_event(thread, [&](const EventPage& event, EventIndex) {
        if (!samples_by_time(event)) return;
        const std::uint64_t now = local_value(thread, event.source);
        least = std::min(least, event.overflow_at > now ? event.overflow_at - now : 1);
    });
    return least;
}

/// Makes the thread's timer if it has none. Its signal is a SIGTRAP that the engine recognizes by kAlarmValue.
bool make_timer(Thread& thread) {
    if (thread.agent->alarm != 0) return true;
    sigevent event{};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGTRAP;
    event.sigev_value.sival_ptr = engine::at_address<void>(run::kAlarmValue);
    event._sigev_un._tid = thread.tid;
    std::int32_t timer = 0;
    if (is_error(kernel_call(__NR_timer_create, CLOCK_MONOTONIC, address_of(&event), address_of(&timer)))) return false;
    thread.agent->alarm = static_cast<std::uint32_t>(timer) + 1;
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
    // The upper limit is a fraction of a second, so tv_sec stays 0.
    when.it_value.tv_nsec = static_cast<long>(std::clamp(left, kShortestAlarm, kLongestAlarm));
    kernel_call(__NR_timer_settime, thread.agent->alarm - 1, 0, address_of(&when), 0);
}

void drop_alarm(Thread& thread) {
    if (thread.agent->alarm != 0) kernel_call(__NR_timer_delete, thread.agent->alarm - 1);
    thread.agent->alarm = 0;
}

void sample_clocks(Thread& thread) {
    thread.alarmed = false;
    for_each_active_event(thread, [&](EventPage& event, EventIndex index) {
        if (samples_by_time(event)) handle_overflows(thread, event, index);
    });
    set_alarm(thread);
}

}  // namespace anyperf::agent

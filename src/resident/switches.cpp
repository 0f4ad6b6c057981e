// switches.cpp: see switches.h.
#include "resident/switches.h"

#include <sys/resource.h>
#include <time.h>

#include "resident/clock.h"
#include "resident/request.h"

namespace anyperf::resident {

using engine::address_of;
using engine::Thread;

namespace {

struct Switches {
    std::uint64_t voluntary;
    std::uint64_t involuntary;
};

Switches switches_of_thread() {
    struct rusage usage{};
    engine::kernel_call(__NR_getrusage, RUSAGE_THREAD, address_of(&usage));
    return {static_cast<std::uint64_t>(usage.ru_nvcsw), static_cast<std::uint64_t>(usage.ru_nivcsw)};
}

void know(Thread& thread, const Switches& now) {
    thread.switches[0] = now.voluntary;
    thread.switches[1] = now.involuntary;
    thread.own_waits = 0;
}

}  // namespace

void tell_switches(Thread& thread, bool told) {
    if (told && !thread.tells_switches) {
        know(thread, switches_of_thread());
        thread.call_entered = 0;
    }
    thread.tells_switches = told;
}

void begin_on_cpu(Thread& thread) {
    if (thread.tells_switches) Ask{thread, RequestKind::switched}.with(3, 1).send();
}

void look_for_switches(Thread& thread, bool behind_call) {
    const Switches now = switches_of_thread();
    const std::uint64_t waits = now.voluntary - thread.switches[0];
    const std::uint64_t involuntary = now.involuntary - thread.switches[1];
    const std::uint64_t time = clock_now(*thread.engine, CLOCK_MONOTONIC);
    // Between calls only the engine waits; behind the call that opened the event its begin is not known.
    const bool known = behind_call && thread.call_entered != 0;
    const std::uint64_t voluntary = known && waits > thread.own_waits ? waits - thread.own_waits : 0;
    const std::uint64_t ago = known ? time - thread.call_entered : 0;
    thread.call_entered = behind_call ? 0 : time;
    if (voluntary == 0 && involuntary == 0) return know(thread, now);
    Ask{thread, RequestKind::switched}.with(0, voluntary).with(1, involuntary).with(2, ago).send();
    know(thread, switches_of_thread());
    if (!behind_call) thread.call_entered = clock_now(*thread.engine, CLOCK_MONOTONIC);
}

}  // namespace anyperf::resident

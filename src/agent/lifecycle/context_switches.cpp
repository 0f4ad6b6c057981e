// context_switches.cpp: leaves out the engine's own switches. A thread that waits for the broker is switched out as
// well, but that switch is not the program's. These waits are counted as they happen (AgentState::waits_since_switch)
// and subtracted from the voluntary switches of the next report. The report is itself a request and may wait, so the
// baseline is set after it.
#include "agent/lifecycle/context_switches.h"

#include <time.h>

#include "agent/agent_state.h"
#include "agent/broker_request.h"
#include "agent/clocks.h"
#include "agent/thread_switches.h"
#include "engine/turns/turns.h"

namespace anyperf::agent {

using engine::Thread;

namespace {

/// Counts are compared with these from now on.
void set_baseline(AgentState& state, const Switches& now) {
    state.context_switches[0] = now.voluntary;
    state.context_switches[1] = now.involuntary;
    state.waits_since_switch = 0;
}

}  // namespace

void track_switches(Thread& thread, bool on) {
    AgentState& state = *thread.agent;
    if (on && !state.reports_switches) {
        set_baseline(state, switches_of(thread));
        state.syscall_entered_ns = 0;
    }
    state.reports_switches = on;
}

void report_first_switch_in(Thread& thread) {
    if (thread.agent->reports_switches) BrokerRequest{thread, run::RequestKind::switched}.argument(3, 1).send();
}

void report_new_switches(Thread& thread, bool after_call) {
    AgentState& state = *thread.agent;
    const Switches now = switches_of(thread);
    const std::uint64_t waits = now.voluntary - state.context_switches[0];
    const std::uint64_t involuntary = now.involuntary - state.context_switches[1];
    const std::uint64_t time = record_clock(thread, CLOCK_MONOTONIC);
    // Between system calls only the engine waits, so voluntary switches are the program's only after a call. After the
    // call that opened the event, that call's start is not known.
    const bool known = after_call && state.syscall_entered_ns != 0;
    const std::uint64_t own = engine::turns::on(*thread.engine) ? 0 : state.waits_since_switch;
    const std::uint64_t voluntary = known && waits > own ? waits - own : 0;
    const std::uint64_t ago = known ? time - state.syscall_entered_ns : 0;
    state.syscall_entered_ns = after_call ? 0 : time;
    if (voluntary == 0 && involuntary == 0) return set_baseline(state, now);
    BrokerRequest{thread, run::RequestKind::switched}
        .argument(0, voluntary)
        .argument(1, involuntary)
        .argument(2, ago)
        .send();
    set_baseline(state, switches_of(thread));
    if (!after_call) state.syscall_entered_ns = record_clock(thread, CLOCK_MONOTONIC);
}

}  // namespace anyperf::agent

// overflow_budget.cpp: computes, for each of a thread's sampling events, how many instructions may run before it
// overflows, and grants the smallest number. A number that is too small only costs another check; one that is too large
// would miss an overflow. So each estimate is a lower bound, and `exact` says that the overflow comes after exactly so
// many.
#include "agent/sampling/overflow_budget.h"

#include <algorithm>
#include <utility>

#include "agent/agent_state.h"
#include "agent/broker_request.h"
#include "agent/faults/fault_traps.h"
#include "agent/sampling/active_events.h"
#include "agent/sampling/local_read.h"
#include "agent/sampling/memory_facts.h"
#include "agent/sampling/next_instruction.h"
#include "agent/sampling/sampling.h"
#include "engine/modelling/modelling.h"
#include "engine/threads/counting.h"
#include "run/live_value.h"
#include "subsystem/shared/counter_sum.h"
#include "subsystem/shared/overflow.h"

namespace anyperf::agent {

using subsystem::EventState;
using subsystem::Source;

namespace {

bool counts_instructions_alone(const Source& source) {
    return source.kind == Source::Kind::counters && source.terms == 1 && source.shift == 0 &&
           source.term[0].counter == 0 && source.term[0].weight == 1;
}

std::int64_t bounded(std::uint64_t instructions) {
    return static_cast<std::int64_t>(
        std::clamp<std::uint64_t>(instructions, 1, static_cast<std::uint64_t>(run::kUnlimited)));
}

/// The most that an instruction adds to a source of the models. A REP string instruction may add more. The models see
/// it as one instruction, so the overflow still comes after it.
std::uint64_t most_of(const Source& source) {
    return std::max<std::uint64_t>(source.most_per_instruction, 1);
}

/// The same for an event of modelled cycles, of which an instruction may add most_of(), but mostly adds far fewer. Far
/// from the overflow the thread may run for a quarter of what its own pace so far says. If it becomes four times as
/// slow meanwhile, the overflow comes late; near it that cannot happen. The pace is that of the program: what the
/// thread did before an exec must not matter, because how late an overflow comes depends on it.
std::int64_t instructions_until_cycles(const Thread& thread, const EventPage& event, std::uint64_t value) {
    constexpr std::uint64_t kNear = 8;
    constexpr std::uint64_t kReserve = 4;
    const std::uint64_t left = event.overflow_at - value;
    const std::uint64_t certain = left / most_of(event.source);
    if (certain < kNear) return bounded(certain);
    const AgentState& state = *thread.agent;
    std::uint64_t retired = retired_by(thread) - state.retired_at_begin;
    std::uint64_t cycles = (modelled_cost(thread) - state.cost_at_begin) >> event.source.shift;
    while (((retired | cycles) >> 32) != 0) retired >>= 1, cycles >>= 1;
    if (cycles < retired / 64 || left >> 32 != 0) return bounded(certain);
    return bounded(std::max(certain, left * (retired / 64 + 1) / (cycles + 1) * 64 / kReserve));
}

/// How many instructions can certainly retire before the event overflows, at least 1; 0: an overflow is due here.
std::int64_t instructions_left(Thread& thread, const EventPage& event) {
    run::CountsOfMoment counts{counts_of(thread)};
    const std::uint64_t value = local_value(thread, event.source, counts);
    if (overflow_due(event, value)) return 0;
    if (counts_instructions_alone(event.source)) return bounded(event.overflow_at - value);
    if (counts_faults(event.source)) return next_fault_stretch(thread);
    if (event.source.kind != Source::Kind::counters) return run::kUnlimited;
    if (counts_cycles(event.source)) return instructions_until_cycles(thread, event, value);
    // An instruction may add several to a modelled quantity, so the distance is divided by the most that one can add.
    if (subsystem::uses_models(event.source)) return bounded((event.overflow_at - value) / most_of(event.source));
    std::uint64_t counters[run::kCounters];
    for (std::size_t i = 0; i < event.source.terms && i < Source::kTerms; ++i) {
        const std::uint32_t counter = event.source.term[i].counter;
        if (counter >= run::kCounters) return run::kUnlimited;
        counters[counter] = run::live_counter(counts, counter);
    }
    return bounded(subsystem::instructions_until(event.source, counters, event.overflow_at));
}

struct NearestOverflow {
    std::int64_t instructions = run::kUnlimited;
    bool exact = true;          ///< the overflow comes after exactly so many instructions; false: not before that
    bool isolate_last = false;  ///< samples need the instruction that causes the overflow, so it must run by itself
};

/// Whether a signal stops the thread where the event may overflow, so that its budget need not end there.
bool is_trapped(const Thread& thread, const EventPage& event) {
    return counts_faults(event.source) && thread.agent->fault_traps != nullptr;
}

// The thread stops at the first overflow of all its events, and then computes the others anew.
NearestOverflow nearest_overflow(Thread& thread) {
    NearestOverflow least;
    for_each_sampling_event(thread, [&](const EventPage& event, EventIndex) {
        if (event.state != EventState::counting || is_trapped(thread, event)) return;
        least.instructions = std::min(least.instructions, instructions_left(thread, event));
        // One inexact event makes the whole grant inexact: the thread must not stop at an exact end that is not one.
        least.exact = least.exact && counts_instructions_alone(event.source);
        least.isolate_last = least.isolate_last || event.shape.precise_ip != 0 || samples_memory(event);
    });
    return least;
}

void handle_due_overflows(Thread& thread) {
    for_each_sampling_event(thread, [&](EventPage& event, EventIndex index) {
        if (event.state == EventState::counting) handle_overflows(thread, event, index);
    });
}

}  // namespace

void begin_pace(Thread& thread) {
    thread.agent->retired_at_begin = retired_by(thread);
    thread.agent->cost_at_begin = modelled_cost(thread);
}

// A system call may have added to an event (syscall_terms), so the next check comes at once.
void check_after_syscall(Thread& thread) {
    constexpr std::uint64_t kCallBytes = 2;  // the syscall instruction is 0f 05
    engine::set_budget(thread, 0);
    thread.agent->last_retired_pc = thread.registers.rip - kCallBytes;
}

// With `isolate_last` the budget ends one instruction before the overflow, and that instruction gets a budget of its
// own: its address and memory accesses are then known before it runs (PEBS records the instruction that overflowed).
void grant_next_budget(Thread& thread) {
    handle_due_overflows(thread);
    if (std::exchange(thread.agent->moved_unreported, false)) report_if_moved(thread);
    thread.page_faulted = false;
    const auto [left, exact, isolate_last] = nearest_overflow(thread);
    const bool last = left == 1 && isolate_last;
    AgentState& state = *thread.agent;
    state.last_retired_pc = last ? thread.registers.rip : 0;
    state.last_accesses.count = 0;
    const bool describes = last && state.wants_accesses;
    if (describes) {
        const NextAccesses next = next_accesses(thread);
        state.last_accesses = next.all;
        state.last_is_atomic = next.atomic;
    }
    engine::note_accesses(thread, describes);
    thread.grant_is_exact = exact;
    const bool stops_before = isolate_last && left > 1 && left != run::kUnlimited;
    engine::set_budget(thread, stops_before ? left - 1 : std::max<std::int64_t>(left, 1));
}

}  // namespace anyperf::agent

// armed.cpp: see armed.h.
#include "resident/armed.h"

#include <algorithm>

#include "engine/counting_set.h"
#include "engine/ledger.h"
#include "engine/watch.h"
#include "engine/x86_64/classes.h"
#include "resident/branch_stack.h"
#include "resident/breakpoints.h"
#include "resident/clocks.h"
#include "resident/live_value.h"
#include "resident/memory_facts.h"
#include "resident/next_instruction.h"
#include "resident/own_values.h"
#include "resident/probes.h"
#include "resident/sampling.h"
#include "resident/switches.h"
#include "subsystem/shared/counter_sum.h"
#include "subsystem/shared/overflow.h"

namespace anyperf::resident {

namespace {

using subsystem::EventState;
using subsystem::Source;

/// What the engine has to look at for a thread's events.
struct Looks {
    engine::Watches watches;
    std::uint32_t happenings = 0;  ///< told of, a bit each (Happening)
    bool accesses = false;         ///< samples tell what memory their instruction touches
};

Looks looks_of(const Thread& thread) {
    Looks looks;
    for_each_armed(thread, [&](const EventPage& event, EventIndex) {
        if (event.source.kind == Source::Kind::happenings && !is_of_place(event.source))
            looks.happenings |= 1u << (static_cast<unsigned>(event.source.happening) & 31);
        if (records_switches(event.shape)) looks.happenings |= kSwitchesTold;
        const bool samples = event.sampling != 0;
        looks.accesses = looks.accesses || (samples && tells_of_memory(event));
        if (event.state != EventState::active) return;
        watch_for(event, looks.watches);
        if (!samples) return;
        looks.watches.branches |= recorded_for(event);
        if (event.source.call_terms != 0) looks.happenings |= kCallsSampled;
    });
    return looks;
}

}  // namespace

void settle(Thread& thread) {
    __atomic_store_n(&thread.page.attention, 0, __ATOMIC_SEQ_CST);
    const std::uint32_t classes = __atomic_load_n(&thread.page.counted, __ATOMIC_ACQUIRE);
    // Who began before the run's first event is measured by another for the first time.
    const bool measured = thread.page.first_armed != 0 || classes != 0 || thread.page.counts_faults != 0;
    if (measured && process_of(*thread.engine) == nullptr) return;
    if (classes != 0) engine::open_classes(*thread.engine, static_cast<engine::x86_64::ClassSet>(classes));
    thread.page.watched = __atomic_load_n(&thread.page.counts_faults, __ATOMIC_ACQUIRE);
    const Looks looks = looks_of(thread);
    thread.wants_accesses = looks.accesses;
    tell_switches(thread, (looks.happenings & kSwitchesTold) != 0);
    thread.page.traced = looks.happenings & ~1u;  // without breakpoints, which are no Happening
    engine::set_watches(thread, looks.watches);
    settle_probes(thread);
    next_grant(thread);
    set_alarm(thread);
}

namespace {

bool counts_instructions_alone(const Source& source) {
    return source.kind == Source::Kind::counters && source.terms == 1 && source.shift == 0 &&
           source.term[0].counter == 0 && source.term[0].weight == 1;
}

std::int64_t bounded(std::uint64_t instructions) {
    return static_cast<std::int64_t>(
        std::clamp<std::uint64_t>(instructions, 1, static_cast<std::uint64_t>(engine::kUnlimited)));
}

/// Instructions that surely can retire before the event overflows; 0: it overflows here.
std::int64_t instructions_left(const Thread& thread, const EventPage& event) {
    const std::uint64_t value = own_value(thread, event.source);
    if (overflow_due(event, value)) return 0;
    if (counts_instructions_alone(event.source)) return bounded(event.overflow_at - value);
    // Which instruction faults only running it shows.
    if (counts_faults(event.source)) return 1;
    if (event.source.kind != Source::Kind::counters) return engine::kUnlimited;
    std::uint64_t counters[engine::kCounters];
    for (std::size_t i = 0; i < event.source.terms && i < Source::kTerms; ++i) {
        const std::uint32_t counter = event.source.term[i].counter;
        if (counter >= engine::kCounters) return engine::kUnlimited;
        counters[counter] = live_counter(thread.page.counters, counter);
    }
    return bounded(subsystem::instructions_until(event.source, counters, event.overflow_at));
}

struct Nearest {
    std::int64_t instructions = engine::kUnlimited;
    bool exact = true;       ///< none overflows sooner or later than it says
    bool by_itself = false;  ///< somebody asks which instruction the last one before an overflow is
};

/// To the nearest overflow of an event that counts here.
Nearest nearest(const Thread& thread) {
    Nearest least;
    for_each_sampling(thread, [&](const EventPage& event, EventIndex) {
        if (event.state != EventState::active) return;
        least.instructions = std::min(least.instructions, instructions_left(thread, event));
        least.exact = least.exact && counts_instructions_alone(event.source);
        least.by_itself =
            least.by_itself || event.shape.precise_ip != 0 || counts_faults(event.source) || tells_of_memory(event);
    });
    return least;
}

void take_due(Thread& thread) {
    for_each_sampling(thread, [&](EventPage& event, EventIndex index) {
        if (event.state == EventState::active) take_overflows(thread, event, index);
    });
}

}  // namespace

void look_behind_call(Thread& thread) {
    constexpr std::uint64_t kCallBytes = 2;  // syscall is 0f 05
    engine::grant(thread, 0);
    thread.retired_last = thread.registers.rip - kCallBytes;
}

void next_grant(Thread& thread) {
    take_due(thread);
    const auto [left, exact, by_itself] = nearest(thread);
    const bool last = left == 1 && by_itself;
    thread.retired_last = last ? thread.registers.rip : 0;
    thread.accessed_last = last && thread.page.watched != 0 ? address_of_next_access(thread) : 0;
    thread.accesses_last.count = 0;
    if (last && thread.wants_accesses) thread.accesses_last = next_accesses(thread);
    thread.grant_is_exact = exact;
    const bool stops_before = by_itself && left > 1 && left != engine::kUnlimited;
    engine::grant(thread, stops_before ? left - 1 : std::max<std::int64_t>(left, 1));
}

}  // namespace anyperf::resident

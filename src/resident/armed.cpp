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
#include "resident/sampling.h"
#include "subsystem/shared/counter_sum.h"
#include "subsystem/shared/overflow.h"

namespace anyperf::resident {

namespace {

using engine::x86_64::bit;
using engine::x86_64::Class;
using subsystem::EventState;
using subsystem::Source;

/// What the engine has to do for a thread's events.
struct Needs {
    engine::x86_64::ClassSet classes = 0;  ///< of instructions that they count, or are stopped by
    bool faults = false;
    bool accesses = false;         ///< samples tell what memory their instruction touches
    std::uint32_t happenings = 0;  ///< that they wait for, a bit each
};

Needs needs_of(const Thread& thread) {
    Needs needs;
    for_each_armed(thread, [&](const EventPage& event, EventIndex) {
        if (event.source.kind == Source::Kind::happenings)
            needs.happenings |= 1u << (static_cast<unsigned>(event.source.happening) & 31);
        const bool by_instructions = event.source.kind == Source::Kind::counters || counts_faults(event.source);
        if (event.sampling != 0 && by_instructions) needs.classes |= bit(Class::instructions);
        needs.faults = needs.faults || counts_faults(event.source);
        needs.accesses = needs.accesses || (event.sampling != 0 && tells_of_memory(event));
        if (event.source.kind != Source::Kind::counters) return;
        for (std::size_t i = 0; i < event.source.terms && i < Source::kTerms; ++i)
            needs.classes |= static_cast<engine::x86_64::ClassSet>(1u << (event.source.term[i].counter & 15));
    });
    return needs;
}

engine::Watches watches_of(const Thread& thread) {
    engine::Watches watches;
    for_each_armed(thread, [&](const EventPage& event, EventIndex) {
        if (event.state != EventState::active) return;
        watch_for(event, watches);
        if (event.sampling != 0) watches.branches |= recorded_for(event);
    });
    return watches;
}

}  // namespace

void settle(Thread& thread) {
    __atomic_store_n(&thread.page.attention, 0, __ATOMIC_SEQ_CST);
    // Who began before the run's first event is measured by another for the first time.
    if (thread.page.first_armed != 0 && process_of(*thread.engine) == nullptr) return;
    const Needs needs = needs_of(thread);
    if (needs.classes != 0) engine::open_classes(*thread.engine, needs.classes);
    thread.page.watched = needs.faults ? 1 : 0;
    thread.wants_accesses = needs.accesses;
    thread.page.traced = needs.happenings & ~1u;  // without breakpoints, which are no Happening
    engine::set_watches(thread, watches_of(thread));
    next_grant(thread);
    set_alarm(thread);
}

namespace {

/// Instructions that surely can retire before the event overflows; 0: it overflows here.
std::int64_t instructions_left(const Thread& thread, const EventPage& event) {
    const std::uint64_t value = own_value(thread, event.source);
    if (overflow_due(event, value)) return 0;
    // Which instruction faults only running it shows.
    if (counts_faults(event.source)) return 1;
    if (event.source.kind != Source::Kind::counters) return engine::kUnlimited;
    std::uint64_t counters[engine::kCounters];
    for (std::uint32_t i = 0; i < engine::kCounters; ++i) counters[i] = live_counter(thread.page.counters, i);
    const std::uint64_t left = subsystem::instructions_until(event.source, counters, event.overflow_at);
    return static_cast<std::int64_t>(
        std::clamp<std::uint64_t>(left, 1, static_cast<std::uint64_t>(engine::kUnlimited)));
}

/// To the nearest overflow of an event that counts here.
std::int64_t nearest(const Thread& thread) {
    std::int64_t least = engine::kUnlimited;
    for_each_armed(thread, [&](const EventPage& event, EventIndex) {
        if (event.sampling != 0 && event.state == EventState::active)
            least = std::min(least, instructions_left(thread, event));
    });
    return least;
}

void take_due(Thread& thread) {
    for_each_armed(thread, [&](EventPage& event, EventIndex index) {
        if (event.sampling != 0 && event.state == EventState::active) take_overflows(thread, event, index);
    });
}

}  // namespace

void next_grant(Thread& thread) {
    take_due(thread);
    const std::int64_t left = nearest(thread);
    // The last instruction before an overflow runs alone, so that it is known which it was.
    thread.retired_last = left == 1 ? thread.registers.rip : 0;
    thread.accessed_last = left == 1 && thread.page.watched != 0 ? address_of_next_access(thread) : 0;
    thread.accesses_last = left == 1 && thread.wants_accesses ? next_accesses(thread) : engine::x86_64::Accesses{};
    engine::grant(thread, left > 1 && left != engine::kUnlimited ? left - 1 : std::max<std::int64_t>(left, 1));
}

}  // namespace anyperf::resident

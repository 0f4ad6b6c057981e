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

using subsystem::EventState;
using subsystem::Source;

/// What the thread tells of, a bit each (Happening; without breakpoints, which are none).
std::uint32_t happenings_of(const Thread& thread) {
    std::uint32_t happenings = 0;
    for_each_armed(thread, [&](const EventPage& event, EventIndex) {
        if (event.source.kind == Source::Kind::happenings)
            happenings |= 1u << (static_cast<unsigned>(event.source.happening) & 31);
    });
    return happenings & ~1u;
}

/// Whether samples tell what memory their instruction touches.
bool wants_accesses(const Thread& thread) {
    bool wants = false;
    for_each_sampling(thread, [&](const EventPage& event, EventIndex) { wants = wants || tells_of_memory(event); });
    return wants;
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
    const std::uint32_t classes = __atomic_load_n(&thread.page.counted, __ATOMIC_ACQUIRE);
    if (classes != 0) engine::open_classes(*thread.engine, static_cast<engine::x86_64::ClassSet>(classes));
    thread.page.watched = __atomic_load_n(&thread.page.counts_faults, __ATOMIC_ACQUIRE);
    thread.wants_accesses = wants_accesses(thread);
    thread.page.traced = happenings_of(thread);
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
    for (std::size_t i = 0; i < event.source.terms && i < Source::kTerms; ++i) {
        const std::uint32_t counter = event.source.term[i].counter;
        if (counter >= engine::kCounters) return engine::kUnlimited;
        counters[counter] = live_counter(thread.page.counters, counter);
    }
    const std::uint64_t left = subsystem::instructions_until(event.source, counters, event.overflow_at);
    return static_cast<std::int64_t>(
        std::clamp<std::uint64_t>(left, 1, static_cast<std::uint64_t>(engine::kUnlimited)));
}

struct Nearest {
    std::int64_t instructions = engine::kUnlimited;
    bool by_itself = false;  ///< somebody asks which instruction the last one before an overflow is
};

/// To the nearest overflow of an event that counts here.
Nearest nearest(const Thread& thread) {
    Nearest least;
    for_each_sampling(thread, [&](const EventPage& event, EventIndex) {
        if (event.state != EventState::active) return;
        least.instructions = std::min(least.instructions, instructions_left(thread, event));
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

void next_grant(Thread& thread) {
    take_due(thread);
    const auto [left, by_itself] = nearest(thread);
    const bool last = left == 1 && by_itself;
    thread.retired_last = last ? thread.registers.rip : 0;
    thread.accessed_last = last && thread.page.watched != 0 ? address_of_next_access(thread) : 0;
    thread.accesses_last = last && thread.wants_accesses ? next_accesses(thread) : engine::x86_64::Accesses{};
    const bool stops_before = by_itself && left > 1 && left != engine::kUnlimited;
    engine::grant(thread, stops_before ? left - 1 : std::max<std::int64_t>(left, 1));
}

}  // namespace anyperf::resident

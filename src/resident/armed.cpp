// armed.cpp: see armed.h.
#include "resident/armed.h"

#include <asm/prctl.h>

#include <algorithm>

#include "engine/counting_set.h"
#include "engine/ledger.h"
#include "engine/x86_64/decode.h"
#include "engine/x86_64/effective_address.h"
#include "engine/x86_64/guarded_copy.h"
#include "resident/live_value.h"
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

/// Calls `each` with the events that count on the thread. A list that the broker changes meanwhile may be seen in
/// part; then `attention` is set again. Its length is bounded, whatever stands there.
template <class Each>
void for_each_armed(const Thread& thread, Each each) {
    Process* const process = known_process(*thread.engine);
    if (process == nullptr) return;
    EventIndex index = __atomic_load_n(&thread.page.first_armed, __ATOMIC_ACQUIRE);
    for (std::uint32_t steps = 0; index != 0 && index < kMaximumEvents && steps < kMaximumEvents; ++steps) {
        EventPage& event = process->events[index];
        each(event, index);
        index = __atomic_load_n(&event.next_armed, __ATOMIC_ACQUIRE);
    }
}

/// What the engine has to do for a thread's events.
struct Needs {
    engine::x86_64::ClassSet classes = 0;  ///< of instructions that they count, or are stopped by
    bool faults = false;
};

Needs needs_of(const Thread& thread) {
    Needs needs;
    for_each_armed(thread, [&](const EventPage& event, EventIndex) {
        if (event.sampling != 0) needs.classes |= bit(Class::instructions);
        needs.faults = needs.faults || counts_faults(event.source);
        if (event.source.kind != Source::Kind::counters) return;
        for (std::size_t i = 0; i < event.source.terms && i < Source::kTerms; ++i)
            needs.classes |= static_cast<engine::x86_64::ClassSet>(1u << (event.source.term[i].counter & 15));
    });
    return needs;
}

}  // namespace

void settle(Thread& thread) {
    __atomic_store_n(&thread.page.attention, 0, __ATOMIC_SEQ_CST);
    const Needs needs = needs_of(thread);
    if (needs.classes != 0) engine::open_classes(*thread.engine, needs.classes);
    thread.page.watched = needs.faults ? 1 : 0;
    next_grant(thread);
}

namespace {

/// The memory that the thread's next instruction names, for who samples faults there.
std::uint64_t accessed_by_next(const Thread& thread) {
    using namespace engine::x86_64;
    constexpr std::size_t kLongest = 15;  // SDM volume 2, 2.3.11
    std::uint8_t code[kLongest] = {};
    const auto* const at = engine::at_address<const void>(thread.registers.rip);
    const std::size_t size = guarded_prefix(code, at, sizeof code);
    Instruction instruction;
    if (size == 0 || decode(code, size, instruction) != DecodeStatus::ok) return 0;
    SegmentBases bases{0, thread.gs_base};
    if (instruction.segment == Segment::fs)
        engine::kernel_call(__NR_arch_prctl, ARCH_GET_FS, engine::address_of(&bases.fs));
    return accessed_address(instruction, code, thread.registers, bases);
}

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
    thread.accessed_last = left == 1 && thread.page.watched != 0 ? accessed_by_next(thread) : 0;
    engine::grant(thread, left > 1 && left != engine::kUnlimited ? left - 1 : std::max<std::int64_t>(left, 1));
}

}  // namespace anyperf::resident

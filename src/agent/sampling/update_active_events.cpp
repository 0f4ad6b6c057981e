// update_active_events.cpp: computes from the list of the thread's active events what the engine has to do for them.
//
// It runs at a safepoint that the broker requested, and after the thread's own calls on events. It clears the request
// first: if the broker changes something meanwhile, the broker sets the request again, and the next safepoint serves
// it. The needs are computed anew each time, from the event pages.
//
// The order is: what is counted (classes, models, faults), then what stops the thread (breakpoints, probes, traps),
// then the budget and the timer, which depend on all events that sample.
#include "agent/sampling/update_active_events.h"

#include "agent/agent_state.h"
#include "agent/faults/fault_counts.h"
#include "agent/faults/fault_traps.h"
#include "agent/lifecycle/context_switches.h"
#include "agent/probes/breakpoints.h"
#include "agent/probes/probes.h"
#include "agent/sampling/active_events.h"
#include "agent/sampling/branches/branch_stack.h"
#include "agent/sampling/call_chain.h"
#include "agent/sampling/clock_sampling.h"
#include "agent/sampling/memory_facts.h"
#include "agent/sampling/overflow_budget.h"
#include "engine/instrumentation/instrumentation.h"
#include "engine/memory/page_faults.h"
#include "engine/modelling/modelling.h"
#include "engine/threads/counting.h"
#include "engine/threads/run_records.h"
#include "engine/x86_64/decode/classes.h"
#include "subsystem/shared/counter_sum.h"

namespace anyperf::agent {

namespace {

using subsystem::EventState;
using subsystem::Source;

/// What the engine has to do for a thread's events besides counting.
struct Needs {
    engine::ThreadInstrumentation watches;
    std::uint32_t traced = 0;  ///< for ThreadPage::traced: a bit for each OccurrenceKind, and the bits above them
    bool accesses = false;     ///< samples say which memory their instruction accessed
    bool fault_traps = false;  ///< an event samples page faults
};

/// `accesses`, and `traced` except for kCheckAfterSyscall, cover events in any state. The rest covers only events that
/// are counting.
Needs needs_of(const Thread& thread) {
    Needs needs;
    engine::add_debug_registers(thread.debug, needs.watches);
    for_each_active_event(thread, [&](const EventPage& event, EventIndex) {
        if (event.source.kind == Source::Kind::occurrences && !is_uprobe(event.source))
            needs.traced |= 1u << (static_cast<unsigned>(event.source.occurrence_kind) & 31);
        if (records_switches(event.shape)) needs.traced |= kTrackSwitches;
        if (samples_switches(event)) needs.traced |= kSampleSwitches;
        const bool samples = event.sampling != 0;
        needs.accesses = needs.accesses || (samples && samples_memory(event));
        if (event.state != EventState::counting) return;
        add_watches(event, needs.watches);
        if (!samples) return;
        needs.fault_traps = needs.fault_traps || counts_faults(event.source);
        needs.watches.branches |= branch_kinds_for(event);
        if (wants_open_calls(thread, event)) needs.watches.branches |= engine::branch::kOpenCalls;
        if (event.source.syscall_terms != 0) needs.traced |= kCheckAfterSyscall;
    });
    return needs;
}

/// What the events that count these classes need modelled. Cycles count what misses and mispredictions cost while
/// caches are modelled.
engine::WantedModels modelled_by(std::uint32_t classes) {
    const bool accesses = (classes & 1u << subsystem::kAccessesBit) != 0;
    const bool predictions = (classes & 1u << subsystem::kPredictionsBit) != 0;
    return {.accesses = accesses,
            .predictions = predictions || (accesses && (classes & engine::x86_64::kCostRows) != 0)};
}

}  // namespace

void update_active_events(Thread& thread) {
    __atomic_store_n(&thread.page.safepoint_requested, 0, __ATOMIC_SEQ_CST);
    // The file `rdpmc` may have changed (RunHeader::rdpmc): read_counter() looks at it, translated code does not.
    if (__atomic_load_n(&thread.engine->run->rdpmc, __ATOMIC_ACQUIRE) == run::kRdpmcNever) thread.readable.close();
    const std::uint32_t classes = __atomic_load_n(&thread.page.counted, __ATOMIC_ACQUIRE);
    // A process that started before the run's first event was opened has no state yet, if another process measures it.
    const bool measured =
        thread.page.first_active_event != 0 || classes != 0 || thread.page.counts_faults != 0 || thread.debug.any();
    if (measured && ensure_process(*thread.engine) == nullptr) return;
    if (classes != 0) engine::enable_classes(*thread.engine, static_cast<engine::x86_64::ClassSet>(classes));
    engine::set_modelling(thread, modelled_by(classes));
    end_quiet_counting(thread);
    thread.page.faults_are_counted = __atomic_load_n(&thread.page.counts_faults, __ATOMIC_ACQUIRE);
    // A thread that begins to count faults, or that is new after an exec, does not know yet how many it has had.
    if (thread.page.faults_are_counted != 0) {
        engine::touch_models(thread);
        engine::touch_quiet_memory(thread);
        begin_counting_page_faults(thread);
    }
    const Needs needs = needs_of(thread);
    thread.agent->wants_accesses = needs.accesses;
    track_switches(thread, (needs.traced & kTrackSwitches) != 0);
    thread.page.traced =
        needs.traced & ~1u;  // without bit 0 (OccurrenceKind::none), which breakpoints have: watches stop the thread
    engine::set_instrumentation(thread, needs.watches);
    update_probes(thread);
    thread.locates_faults = needs.fault_traps;
    set_fault_traps(thread, needs.fault_traps);
    grant_next_budget(thread);
    set_alarm(thread);
}

}  // namespace anyperf::agent

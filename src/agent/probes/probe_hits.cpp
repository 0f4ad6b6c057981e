// probe_hits.cpp: hits of uprobes and uretprobes. For a uretprobe the kernel replaces the return address on the stack
// by the address of a trampoline. Here the stack is not changed: the engine reports whenever an indirect branch goes to
// the call's return address, and a thread that comes there with the stack pointer right above the return address's slot
// has returned from the call. So unwinders see the stack as it is, and a longjmp or an exception past the function is
// not taken for a return.
#include "agent/probes/probe_hits.h"

#include <algorithm>

#include "agent/probes/probes.h"
#include "agent/sampling/active_events.h"
#include "agent/sampling/occurrences.h"
#include "engine/instrumentation/instrumentation.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

using engine::at_address;
using OccurrenceKind = subsystem::Source::OccurrenceKind;

namespace {

/// The probe at this address; 0: none.
ProbeIndex probe_at(ProbedPlaces& places, std::uint64_t address) {
    const engine::LockGuard held{places.lock};
    const ProbedPlace* const first = places.place;
    const ProbedPlace* const end = first + places.count;
    const ProbedPlace* const at = std::lower_bound(
        first, end, address, [](const ProbedPlace& place, std::uint64_t what) { return place.address < what; });
    return at != end && at->address == address ? at->probe : 0;
}

/// Whether an event of the thread counts this occurrence of this probe.
bool has_event_for(const Thread& thread, ProbeIndex probe, OccurrenceKind what) {
    bool has = false;
    for_each_active_event(thread, [&](const EventPage& event, EventIndex) {
        has = has || (is_uprobe(event.source) && event.source.occurrence_kind == what && event.source.number == probe);
    });
    return has;
}

template <class Gone>
void remove_if(ThreadProbes& probes, Gone gone) {
    PendingReturn* const end = std::remove_if(probes.pending, probes.pending + probes.depth, gone);
    probes.depth = static_cast<std::uint32_t>(end - probes.pending);
}

/// Drops pending returns that will not happen, because `call` has its return address in their slot: a longjmp has left
/// those calls. A pending return of another function with the same target stays: after a tail call both return at once.
/// If there is no room, this also drops the pending returns at lower stack addresses: their frames are gone, unless
/// they are on another stack.
void forget_overwritten(ThreadProbes& probes, const PendingReturn& call) {
    remove_if(probes, [&](const PendingReturn& one) {
        return one.slot == call.slot && (one.target != call.target || one.probe == call.probe);
    });
    if (probes.depth == ThreadProbes::kDepth)
        remove_if(probes, [&](const PendingReturn& one) { return one.slot < call.slot; });
}

void add_return_targets(Thread& thread, const ThreadProbes& probes) {
    for (std::uint32_t i = 0; i < probes.depth; ++i)
        engine::add_return_target(*thread.engine, probes.pending[i].target);
}

/// Adds the call of the function at the thread's rip to the thread's pending returns. The call is left out if kDepth
/// others are pending.
void await_return(Thread& thread, ProbeIndex probe) {
    ThreadProbes& probes = *probes_of(thread);
    PendingReturn call{
        .slot = thread.registers.r[engine::x86_64::rsp], .target = 0, .place = thread.registers.rip, .probe = probe};
    if (!engine::x86_64::guarded_copy(&call.target, at_address<const void>(call.slot), sizeof call.target)) return;
    forget_overwritten(probes, call);
    if (probes.depth == ThreadProbes::kDepth) return;
    probes.pending[probes.depth++] = call;
    if (engine::add_return_target(*thread.engine, call.target)) return;
    engine::clear_return_targets(*thread.engine);  // the table is full of targets for which no thread waits any more
    add_return_targets(thread, probes);
}

}  // namespace

bool report_probe_hit(Thread& thread) {
    Process* const process = existing_process(*thread.engine);
    ThreadProbes* const probes = probes_of(thread);
    if (process == nullptr || process->probed_places == nullptr || probes == nullptr) return false;
    const ProbeIndex probe = probe_at(*process->probed_places, thread.registers.rip);
    if (probe == 0 || !probes->has_events_at(probe)) return false;
    report_occurrence(thread, {.what = OccurrenceKind::probe_reached, .place = probe, .address = thread.registers.rip});
    if (has_event_for(thread, probe, OccurrenceKind::probe_returned)) await_return(thread, probe);
    return true;
}

void report_probe_return(Thread& thread) {
    ThreadProbes* const probes = probes_of(thread);
    if (probes == nullptr) return;
    const std::uint64_t slot = thread.registers.r[engine::x86_64::rsp] - sizeof(std::uint64_t);
    const std::uint64_t here = thread.registers.rip;
    // The newest comes first. After a tail call several functions return at once, to the same place by the same slot.
    for (std::uint32_t i = probes->depth; i-- > 0;) {
        const PendingReturn call = probes->pending[i];
        if (call.slot != slot || call.target != here) continue;
        std::copy(probes->pending + i + 1, probes->pending + probes->depth, probes->pending + i);
        --probes->depth;
        report_occurrence(thread, {.what = OccurrenceKind::probe_returned, .place = call.probe, .address = call.place});
    }
}

}  // namespace anyperf::agent

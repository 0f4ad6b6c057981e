// probe_hits.cpp: see probe_hits.h. Returns are found without a change to the program's stack: the call's return
// address is watched for indirect branches, and whoever comes there with the stack pointer right above the slot has
// returned. So a longjmp or an exception past the function is no return, and unwinders see the stack as it is.
#include "resident/probe_hits.h"

#include <algorithm>

#include "engine/attached.h"
#include "engine/watch.h"
#include "engine/x86_64/guarded_copy.h"
#include "resident/armed.h"
#include "resident/happenings.h"
#include "resident/probes.h"

namespace anyperf::resident {

using engine::at_address;
using Happening = subsystem::Source::Happening;

namespace {

/// The place at this address; 0: none.
ProbeIndex place_at(ProbedPlaces& places, std::uint64_t address) {
    const engine::Held held{places.lock};
    const ProbedPlace* const first = places.place;
    const ProbedPlace* const end = first + places.count;
    const ProbedPlace* const at = std::lower_bound(
        first, end, address, [](const ProbedPlace& place, std::uint64_t what) { return place.address < what; });
    return at != end && at->address == address ? at->probe : 0;
}

bool waits_for(const Thread& thread, ProbeIndex probe, Happening what) {
    bool waits = false;
    for_each_armed(thread, [&](const EventPage& event, EventIndex) {
        waits = waits || (is_of_place(event.source) && event.source.happening == what && event.source.number == probe);
    });
    return waits;
}

template <class Gone>
void remove_if(ThreadProbes& probes, Gone gone) {
    AwaitedReturn* const end = std::remove_if(probes.awaited, probes.awaited + probes.depth, gone);
    probes.depth = static_cast<std::uint32_t>(end - probes.awaited);
}

/// A call that is not over has its return address where it put it: what else was at this slot has been left by a
/// longjmp. But for another function: a tail call leaves its caller's return address to whom it calls.
void forget_overwritten(ThreadProbes& probes, const AwaitedReturn& call) {
    remove_if(probes, [&](const AwaitedReturn& one) {
        return one.slot == call.slot && (one.target != call.target || one.probe == call.probe);
    });
    if (probes.depth == ThreadProbes::kDepth)
        remove_if(probes, [&](const AwaitedReturn& one) { return one.slot < call.slot; });
}

void watch_targets(Thread& thread, const ThreadProbes& probes) {
    for (std::uint32_t i = 0; i < probes.depth; ++i) engine::watch_target(*thread.engine, probes.awaited[i].target);
}

void await_return(Thread& thread, ProbeIndex probe) {
    ThreadProbes& probes = *probes_of(thread);
    AwaitedReturn call{
        .slot = thread.registers.r[engine::x86_64::rsp], .target = 0, .place = thread.registers.rip, .probe = probe};
    if (!engine::x86_64::guarded_copy(&call.target, at_address<const void>(call.slot), sizeof call.target)) return;
    forget_overwritten(probes, call);
    if (probes.depth == ThreadProbes::kDepth) return;
    probes.awaited[probes.depth++] = call;
    if (engine::watch_target(*thread.engine, call.target)) return;
    engine::unwatch_targets(*thread.engine);  // full of those where nobody waits any more
    watch_targets(thread, probes);
}

}  // namespace

bool reach_place(Thread& thread) {
    Process* const process = known_process(*thread.engine);
    ThreadProbes* const probes = probes_of(thread);
    if (process == nullptr || process->probed == nullptr || probes == nullptr) return false;
    const ProbeIndex probe = place_at(*process->probed, thread.registers.rip);
    if (probe == 0 || !probes->has_events_at(probe)) return false;
    tell(thread, {.what = Happening::place_reached, .place = probe, .address = thread.registers.rip});
    if (waits_for(thread, probe, Happening::place_left)) await_return(thread, probe);
    return true;
}

}  // namespace anyperf::resident

namespace anyperf::engine::attached {

void arrived(Thread& thread) {
    resident::ThreadProbes* const probes = resident::probes_of(thread);
    if (probes == nullptr) return;
    const std::uint64_t slot = thread.registers.r[x86_64::rsp] - sizeof(std::uint64_t);
    const std::uint64_t here = thread.registers.rip;
    for (std::uint32_t i = probes->depth; i-- > 0;) {
        const resident::AwaitedReturn call = probes->awaited[i];
        if (call.slot != slot || call.target != here) continue;
        std::copy(probes->awaited + i + 1, probes->awaited + probes->depth, probes->awaited + i);
        --probes->depth;
        resident::tell(thread, {.what = resident::Happening::place_left, .place = call.probe, .address = call.place});
    }
}

}  // namespace anyperf::engine::attached

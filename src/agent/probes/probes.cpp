// probes.cpp: from probes to places. See probes.h for the terms.
//
// Three levels. The *event* names a probe by number. The *thread* has a bit for each probe at which it has events
// (ThreadProbes::has), so a hit is dismissed by one test on threads without events there. The *process* counts the
// threads that use each probe and has the places, because code is common to its threads.
//
// Scans are expensive (a read of /proc/self/maps), so a change of users only sets ProbedPlaces::changed, and
// apply_probes() makes one scan for all of a thread's probes. The broker uses numbers of probes again: if the version
// in the facts differs from that in the copy (`known`), the number means another probe.
//
// ProbedPlaces::lock covers the places and the counts of users. It is taken before the engine's locks
// (add_breakpoint()).
#include "agent/probes/probes.h"

#include <asm/unistd.h>
#include <sys/mman.h>

#include <algorithm>

#include "agent/sampling/active_events.h"
#include "engine/freestanding/pages.h"
#include "engine/instrumentation/instrumentation.h"
#include "engine/syscalls/application_maps.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

using engine::ApplicationMapping;
using engine::at_address;
using engine::x86_64::guarded_copy;
using subsystem::kMaximumProbes;

namespace {

constexpr std::uint64_t kPlacesBytes = engine::page_up(sizeof(ProbedPlaces));
constexpr std::uint64_t kThreadBytes = engine::page_up(sizeof(ThreadProbes));

/// The process's ProbedPlaces, made by the first call; null where memory is short.
ProbedPlaces* places_of(Process& process) {
    const engine::LockGuard held{process.lock};
    if (process.probed_places == nullptr)
        process.probed_places = static_cast<ProbedPlaces*>(engine::reserve_pages(kPlacesBytes));
    return process.probed_places;
}

/// The address at which the mapping has this offset of its file; 0: the mapping does not contain it.
std::uint64_t address_in(const ApplicationMapping& mapping, std::uint64_t offset) {
    const bool inside = offset >= mapping.offset && offset - mapping.offset < mapping.end - mapping.start;
    return inside ? mapping.start + (offset - mapping.offset) : 0;
}

/// One scan of the process's mappings: finds the places of all probes that have users, and the reference counters.
/// Precondition: ProbedPlaces::lock is held.
class MappingScan {
  public:
    MappingScan(engine::Engine& engine, ProbedPlaces& places) : engine_(engine), places_(places) {
        for (ProbeIndex i = 1; i < kMaximumProbes; ++i)
            if (places.users[i] != 0 || places.raised_at[i] != 0)
                active_[count_++] = static_cast<std::uint16_t>(i), places.reference_counter[i] = 0;
    }

    void run() {
        for (std::uint32_t i = 0; i < places_.count; ++i) places_.place[i].is_mapped = false;
        engine::for_each_mapping(
            [](void* scan, const ApplicationMapping& one) { static_cast<MappingScan*>(scan)->mapping(one); }, this);
        for (std::uint32_t i = 0; i < count_; ++i) update_reference_counter(active_[i]);
        drop_unmapped();
    }

  private:
    /// Code is in private mappings that are not writable, reference counters are in writable ones.
    void mapping(const ApplicationMapping& one) {
        if (one.inode == 0 || one.flags == MAP_SHARED) return;
        const bool writable = (one.protection & PROT_WRITE) != 0;
        for (std::uint32_t i = 0; i < count_; ++i) {
            const ProbeIndex index = active_[i];
            const Probe& probe = places_.known[index];
            if (probe.file.inode != one.inode || probe.file.device != one.device) continue;
            const std::uint64_t address = address_in(one, writable ? probe.reference_counter_offset : probe.offset);
            if (address == 0) continue;
            if (!writable && places_.users[index] != 0) place(address, index);
            if (writable && probe.reference_counter_offset != 0) places_.reference_counter[index] = address;
        }
    }

    /// Adds the place if it is new, and makes the engine stop there.
    void place(std::uint64_t address, ProbeIndex index) {
        ProbedPlace* const end = places_.place + places_.count;
        ProbedPlace* const at = std::lower_bound(
            places_.place, end, address, [](const ProbedPlace& one, std::uint64_t what) { return one.address < what; });
        if (at != end && at->address == address) {
            at->probe = index;
        } else {
            if (places_.count == ProbedPlaces::kPlaces) return;
            std::copy_backward(at, end, end + 1);
            *at = {address, index, false, false};
            ++places_.count;
        }
        at->is_mapped = true;
        if (!at->is_watched) at->is_watched = engine::add_breakpoint(engine_, address);
    }

    /// Raises the probe's reference counter if it has users and is mapped, lowers it if it has none any more.
    void update_reference_counter(ProbeIndex index) {
        const std::uint64_t mapped = places_.reference_counter[index];
        std::uint64_t& raised = places_.raised_at[index];
        if (raised != 0 && raised != mapped) raised = 0;  // its mapping is gone, and the counter with it
        const bool wanted = places_.users[index] != 0 && is_placed(index);
        if (wanted == (raised != 0) || mapped == 0) return;
        // As the kernel's __update_ref_ctr() (kernel/events/uprobes.c): 16 bits, signed, and never below 0.
        std::int16_t value = 0;
        auto* const counter = at_address<std::int16_t>(mapped);
        if (!guarded_copy(&value, counter, sizeof value)) return;
        value = static_cast<std::int16_t>(value + (wanted ? 1 : -1));
        if (value >= 0) guarded_copy(counter, &value, sizeof value);
        raised = wanted ? mapped : 0;
    }

    bool is_placed(ProbeIndex index) const {
        return std::any_of(places_.place, places_.place + places_.count,
                           [index](const ProbedPlace& one) { return one.is_mapped && one.probe == index; });
    }

    /// Drops the places that the scan has not found.
    void drop_unmapped() {
        std::uint32_t kept = 0;
        for (std::uint32_t i = 0; i < places_.count; ++i) {
            const ProbedPlace one = places_.place[i];
            if (one.is_mapped) places_.place[kept++] = one;
            if (!one.is_mapped && one.is_watched) engine::remove_breakpoint(engine_, one.address);
        }
        places_.count = kept;
    }

    engine::Engine& engine_;
    ProbedPlaces& places_;
    std::uint32_t count_ = 0;
    std::uint16_t active_[kMaximumProbes];
};

/// Precondition: ProbedPlaces::lock is held.
void rescan_mappings(engine::Engine& engine, ProbedPlaces& places) {
    places.changed = false;
    MappingScan{engine, places}.run();
    if (places.count == 0) engine::clear_return_targets(engine);
}

/// One thread more, or one less, has events at the probe. Requests a scan for the first user, because the probe's
/// places may be unknown, and after the last one, to remove its places and to lower its reference counter.
void change_users(ProbedPlaces& places, const Process& process, ProbeIndex index, bool more) {
    places.users[index] += more ? 1 : -1;
    if (places.users[index] == 0) places.changed = true;
    if (!more || (places.users[index] != 1 && places.known[index].version == process.probes[index].version)) return;
    places.known[index] = process.probes[index];
    places.changed = true;
}

/// If the broker has given the number to another probe, takes over its definition and requests a scan for it.
void refresh_definition(ProbedPlaces& places, const Process& process, ProbeIndex index) {
    if (places.known[index].version == process.probes[index].version) return;
    places.known[index] = process.probes[index];
    places.changed = true;
}

/// Makes the thread a user of exactly the probes in `now`, a bit each.
void set_probes_of_thread(ProbedPlaces& places, const Process& process, ThreadProbes& probes,
                          const std::uint64_t (&now)[kMaximumProbes / 64]) {
    for (std::size_t word = 0; word < kMaximumProbes / 64; ++word) {
        for (std::uint64_t bits = now[word] | probes.has[word]; bits != 0; bits &= bits - 1) {
            const std::uint64_t bit = bits & -bits;
            const auto index = static_cast<ProbeIndex>(word * 64 + static_cast<unsigned>(__builtin_ctzll(bit)));
            const bool has = (now[word] & bit) != 0;
            if (has == ((probes.has[word] & bit) != 0))
                refresh_definition(places, process, index);
            else
                change_users(places, process, index, has);
        }
        probes.has[word] = now[word];
    }
}

/// Does the same with the process's places locked, and scans the mappings if needed. Precondition: the thread has its
/// ThreadProbes.
void apply_probes(Thread& thread, Process& process, const std::uint64_t (&now)[kMaximumProbes / 64]) {
    ProbedPlaces* const places = places_of(process);
    if (places == nullptr) return;
    const engine::LockGuard held{places->lock};
    set_probes_of_thread(*places, process, *probes_of(thread), now);
    if (places->changed) rescan_mappings(*thread.engine, *places);
}

/// Whether a place is in this range.
bool touches(ProbedPlaces& places, std::uint64_t start, std::uint64_t bytes) {
    const engine::LockGuard held{places.lock};
    return std::any_of(places.place, places.place + places.count,
                       [&](const ProbedPlace& one) { return one.address >= start && one.address - start < bytes; });
}

}  // namespace

void update_probes(Thread& thread) {
    std::uint64_t now[kMaximumProbes / 64] = {};
    bool any = false;
    for_each_active_event(thread, [&](const EventPage& event, EventIndex) {
        const ProbeIndex index = event.source.number;
        if (!is_uprobe(event.source) || index == 0 || index >= kMaximumProbes) return;
        now[index / 64] |= std::uint64_t{1} << (index % 64);
        any = true;
    });
    Process* const process = existing_process(*thread.engine);
    if (process == nullptr) return;
    // reset_probes_after_fork() marks the places without scanning them.
    const bool left_over = process->probed_places != nullptr && process->probed_places->changed;
    ThreadProbes*& probes = thread.agent->probes;
    if (!any && probes == nullptr && !left_over) return;
    if (probes == nullptr) probes = static_cast<ThreadProbes*>(engine::reserve_pages(kThreadBytes));
    if (probes != nullptr) apply_probes(thread, *process, now);
}

void rescan_mappings_after(const engine::Call& call, long answer) {
    ProbedPlaces& places = *call.engine.agent->probed_places;
    const auto& argument = call.argument;
    bool changed = false;
    switch (call.number) {
        // A file that is mapped may be a probed one. Anonymous memory matters only if it replaces a place.
        case __NR_mmap:
            changed = (argument[3] & MAP_ANONYMOUS) == 0 ||
                      ((argument[3] & MAP_FIXED) != 0 && touches(places, argument[0], argument[1]));
            break;
        case __NR_munmap: changed = touches(places, argument[0], argument[1]); break;
        case __NR_mremap:
            changed = touches(places, argument[0], argument[1]) ||
                      touches(places, static_cast<std::uint64_t>(answer), argument[2]);
            break;
        default: return;
    }
    if (!changed) return;
    const engine::LockGuard held{places.lock};
    rescan_mappings(call.engine, places);
}

void reset_probes_after_fork(Thread& thread) {
    const Process* const process = existing_process(*thread.engine);
    if (process == nullptr || process->probed_places == nullptr) return;
    ProbedPlaces& places = *process->probed_places;
    places.lock.reset();
    places.changed = true;
    for (std::uint32_t& users : places.users) users = 0;
    for (std::uint32_t i = 0; i < places.count; ++i) places.place[i].is_watched = false;
    ThreadProbes* const probes = probes_of(thread);
    if (probes == nullptr) return;
    for (std::uint64_t& word : probes->has) word = 0;
    for (std::uint32_t i = 0; i < probes->depth; ++i)
        engine::add_return_target(*thread.engine, probes->pending[i].target);
}

void drop_probes(Thread& thread) {
    Process* const process = existing_process(*thread.engine);
    if (thread.agent->probes == nullptr || process == nullptr) return;
    apply_probes(thread, *process, {});
    engine::release_pages(thread.agent->probes, kThreadBytes);
    thread.agent->probes = nullptr;
}

}  // namespace anyperf::agent

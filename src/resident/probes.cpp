// probes.cpp: see probes.h.
#include "resident/probes.h"

#include <asm/unistd.h>
#include <sys/mman.h>

#include <algorithm>

#include "engine/freestanding/pages.h"
#include "engine/syscalls/own_maps.h"
#include "engine/watch.h"
#include "engine/x86_64/guarded_copy.h"
#include "resident/armed.h"

namespace anyperf::resident {

using engine::at_address;
using engine::OwnMapping;
using engine::x86_64::guarded_copy;
using subsystem::kMaximumProbes;

namespace {

constexpr std::uint64_t kPlacesBytes = engine::page_up(sizeof(ProbedPlaces));
constexpr std::uint64_t kThreadBytes = engine::page_up(sizeof(ThreadProbes));

ProbedPlaces* places_of(Process& process) {
    const engine::Held held{process.lock};
    if (process.probed == nullptr) process.probed = static_cast<ProbedPlaces*>(engine::reserve_pages(kPlacesBytes));
    return process.probed;
}

/// What of a mapping an offset in its file stands at; 0: nothing.
std::uint64_t address_in(const OwnMapping& mapping, std::uint64_t offset) {
    const bool inside = offset >= mapping.offset && offset - mapping.offset < mapping.end - mapping.start;
    return inside ? mapping.start + (offset - mapping.offset) : 0;
}

/// One look at the process's mappings. Precondition: ProbedPlaces::lock is held.
class Look {
  public:
    Look(engine::Engine& engine, ProbedPlaces& places) : engine_(engine), places_(places) {
        for (ProbeIndex i = 1; i < kMaximumProbes; ++i)
            if (places.users[i] != 0 || places.counter[i] != 0)
                active_[count_++] = static_cast<std::uint16_t>(i), places.mapped[i] = 0;
    }

    void run() {
        for (std::uint32_t i = 0; i < places_.count; ++i) places_.place[i].found = false;
        engine::each_mapping([](void* look, const OwnMapping& one) { static_cast<Look*>(look)->mapping(one); }, this);
        for (std::uint32_t i = 0; i < count_; ++i) settle_counter(active_[i]);
        drop_lost();
    }

  private:
    void mapping(const OwnMapping& one) {
        if (one.inode == 0 || one.flags == MAP_SHARED) return;
        const bool writable = (one.protection & PROT_WRITE) != 0;
        for (std::uint32_t i = 0; i < count_; ++i) {
            const ProbeIndex index = active_[i];
            const Probe& probe = places_.known[index];
            if (probe.file.inode != one.inode || probe.file.device != one.device) continue;
            const std::uint64_t address = address_in(one, writable ? probe.counter_offset : probe.offset);
            if (address == 0) continue;
            if (!writable && places_.users[index] != 0) place(address, index);
            if (writable && probe.counter_offset != 0) places_.mapped[index] = address;
        }
    }

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
        at->found = true;
        if (!at->watched) engine::watch_code(engine_, address);
        at->watched = true;
    }

    /// The counter is one higher while the place has users, wherever it is mapped by now.
    void settle_counter(ProbeIndex index) {
        const std::uint64_t mapped = places_.mapped[index];
        std::uint64_t& raised = places_.counter[index];
        if (raised != 0 && raised != mapped) raised = 0;  // gone with its mapping
        const bool wanted = places_.users[index] != 0 && is_placed(index);
        if (wanted == (raised != 0) || mapped == 0) return;
        std::int16_t value = 0;
        auto* const counter = at_address<std::int16_t>(mapped);
        if (!guarded_copy(&value, counter, sizeof value)) return;
        value = static_cast<std::int16_t>(value + (wanted ? 1 : -1));
        if (value >= 0) guarded_copy(counter, &value, sizeof value);
        raised = wanted ? mapped : 0;
    }

    bool is_placed(ProbeIndex index) const {
        return std::any_of(places_.place, places_.place + places_.count,
                           [index](const ProbedPlace& one) { return one.found && one.probe == index; });
    }

    void drop_lost() {
        std::uint32_t kept = 0;
        for (std::uint32_t i = 0; i < places_.count; ++i) {
            const ProbedPlace one = places_.place[i];
            if (one.found) places_.place[kept++] = one;
            if (!one.found && one.watched) engine::unwatch_code(engine_, one.address);
        }
        places_.count = kept;
    }

    engine::Engine& engine_;
    ProbedPlaces& places_;
    std::uint32_t count_ = 0;
    std::uint16_t active_[kMaximumProbes];
};

void look_again(engine::Engine& engine, ProbedPlaces& places) {
    places.changed = false;
    Look{engine, places}.run();
    if (places.count == 0) engine::unwatch_targets(engine);
}

/// One thread more, or less, has events there.
void use(ProbedPlaces& places, const Process& process, ProbeIndex index, bool more) {
    places.users[index] += more ? 1 : -1;
    if (places.users[index] == 0) places.changed = true;
    if (!more || (places.users[index] != 1 && places.known[index].version == process.probes[index].version)) return;
    places.known[index] = process.probes[index];
    places.changed = true;
}

/// The number may be another place's by now.
void know_anew(ProbedPlaces& places, const Process& process, ProbeIndex index) {
    if (places.known[index].version == process.probes[index].version) return;
    places.known[index] = process.probes[index];
    places.changed = true;
}

void take_over(ProbedPlaces& places, const Process& process, ThreadProbes& probes,
               const std::uint64_t (&now)[kMaximumProbes / 64]) {
    for (std::size_t word = 0; word < kMaximumProbes / 64; ++word) {
        for (std::uint64_t bits = now[word] | probes.has[word]; bits != 0; bits &= bits - 1) {
            const std::uint64_t bit = bits & -bits;
            const auto index = static_cast<ProbeIndex>(word * 64 + static_cast<unsigned>(__builtin_ctzll(bit)));
            const bool has = (now[word] & bit) != 0;
            if (has == ((probes.has[word] & bit) != 0))
                know_anew(places, process, index);
            else
                use(places, process, index, has);
        }
        probes.has[word] = now[word];
    }
}

/// Precondition: the thread has its ThreadProbes.
void settle_to(Thread& thread, Process& process, const std::uint64_t (&now)[kMaximumProbes / 64]) {
    ProbedPlaces* const places = places_of(process);
    if (places == nullptr) return;
    const engine::Held held{places->lock};
    take_over(*places, process, *probes_of(thread), now);
    if (places->changed) look_again(*thread.engine, *places);
}

bool touches(ProbedPlaces& places, std::uint64_t start, std::uint64_t bytes) {
    const engine::Held held{places.lock};
    return std::any_of(places.place, places.place + places.count,
                       [&](const ProbedPlace& one) { return one.address >= start && one.address - start < bytes; });
}

}  // namespace

void settle_probes(Thread& thread) {
    std::uint64_t now[kMaximumProbes / 64] = {};
    bool any = false;
    for_each_armed(thread, [&](const EventPage& event, EventIndex) {
        const ProbeIndex index = event.source.number;
        if (!is_of_place(event.source) || index == 0 || index >= kMaximumProbes) return;
        now[index / 64] |= std::uint64_t{1} << (index % 64);
        any = true;
    });
    Process* const process = known_process(*thread.engine);
    if (process == nullptr) return;
    const bool left_over = process->probed != nullptr && process->probed->changed;
    if (!any && thread.probed == nullptr && !left_over) return;
    if (thread.probed == nullptr) thread.probed = engine::reserve_pages(kThreadBytes);
    if (thread.probed != nullptr) settle_to(thread, *process, now);
}

void look_at_mappings(const engine::Call& call, long answer) {
    ProbedPlaces& places = *call.engine.attached->probed;
    const auto& argument = call.argument;
    bool changed = false;
    switch (call.number) {
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
    const engine::Held held{places.lock};
    look_again(call.engine, places);
}

void forget_probed(Thread& thread) {
    const Process* const process = known_process(*thread.engine);
    if (process == nullptr || process->probed == nullptr) return;
    ProbedPlaces& places = *process->probed;
    places.lock.reset();
    places.changed = true;
    for (std::uint32_t& users : places.users) users = 0;
    for (std::uint32_t i = 0; i < places.count; ++i) places.place[i].watched = false;
    ThreadProbes* const probes = probes_of(thread);
    if (probes == nullptr) return;
    for (std::uint64_t& word : probes->has) word = 0;
    for (std::uint32_t i = 0; i < probes->depth; ++i) engine::watch_target(*thread.engine, probes->awaited[i].target);
}

void drop_probed(Thread& thread) {
    Process* const process = known_process(*thread.engine);
    if (thread.probed == nullptr || process == nullptr) return;
    settle_to(thread, *process, {});
    engine::release_pages(thread.probed, kThreadBytes);
    thread.probed = nullptr;
}

}  // namespace anyperf::resident

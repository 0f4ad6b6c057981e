#include "subsystem/mapping.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

#include "abi/attr_flags.h"
#include "subsystem/header_page.h"
#include "subsystem/lifetime.h"
#include "subsystem/output.h"
#include "subsystem/permissions.h"
#include "subsystem/shared/ring.h"

namespace anyperf::subsystem {
namespace {

using abi::flag;

constexpr std::uint64_t kPage = kRingPageBytes;
constexpr std::uint32_t kMostPages = 1U << 18;  ///< a pointer to each must fit in 4 MiB (rb_alloc())

Ring ring_of(World& world, RingIndex index) {
    return {&world.host.ring_page(index), world.host.ring_memory(index).data()};
}

Answer<> check_mapping(const Event& event, const MapRequest& request) {
    if ((request.prot & PROT_EXEC) != 0) return refuse(EPERM, "a ring is not executable");
    if (event.cpu == -1 && event.flag(flag("inherit")))
        return refuse(EINVAL, "an inherited event has a ring only if it is bound to a CPU");
    if ((request.flags & MAP_TYPE) != MAP_SHARED && (request.flags & MAP_TYPE) != MAP_SHARED_VALIDATE)
        return refuse(EINVAL, "a ring is mapped with MAP_SHARED");
    return {};
}

/// perf_mmap_aux, for a PMU without an AUX area: the mistakes of the caller come first.
Answer<Mapping> refuse_aux(World& world, const Event& event, const MapRequest& request) {
    const RingIndex index = event.page->ring;
    if (index == 0) return refuse(EINVAL, "the AUX area is mapped after the ring");
    const Ring ring = ring_of(world, index);
    const std::uint64_t offset = ring.header().aux_offset;
    const std::uint64_t size = ring.header().aux_size;
    if (offset < ring.bytes() + kPage || offset != request.offset)
        return refuse(EINVAL, "offset is not the header's aux_offset");
    if (size != request.length || !std::has_single_bit(size / kPage))
        return refuse(EINVAL, "length is not the header's aux_size, or no power of two of pages");
    return refuse(EOPNOTSUPP, "the PMU has no AUX area");
}

/// What locking so many pages costs whom (perf_mmap_calc_limits): first the user's share, then the process's limit.
struct Charge {
    std::uint32_t uid = 0;
    std::uint64_t shared = 0;
    std::uint64_t pinned = 0;
};

std::uint64_t charged(const World& world, auto belongs, std::uint64_t RingRecord::* pages) {
    std::uint64_t sum = 0;
    for (const auto& [index, record] : world.rings)
        if (belongs(record)) sum += record.*pages;
    return sum;
}

Answer<Charge> charge(World& world, const MapRequest& request, std::uint64_t pages) {
    const Limits limits = world.host.limits();
    const Credentials who = world.host.credentials(request.caller);
    const MemoryAccount account = world.host.memory_account(request.caller);
    const std::uint64_t share = limits.mlock_kb / (kPage / 1024) * limits.cpus;
    const std::uint64_t used = std::min(
        share, charged(world, [&](const RingRecord& r) { return r.uid == account.uid; }, &RingRecord::shared_pages));
    const std::uint64_t beyond = used + pages > share ? used + pages - share : 0;
    const std::uint64_t pinned =
        charged(world, [&](const RingRecord& r) { return r.pid == request.caller.pid; }, &RingRecord::pinned_pages);
    const bool unlimited = may_trace(limits, who) || who.ipc_lock;
    if (pinned + beyond > account.memlock_bytes / kPage && !unlimited)
        return refuse(EPERM, "above perf_event_mlock_kb, and RLIMIT_MEMLOCK");
    return Charge{account.uid, pages - beyond, beyond};
}

/// The new ring of an event that has none.
Answer<RingIndex> make_ring(World& world, Event& event, const MapRequest& request, std::uint32_t data_pages) {
    const Charge cost = TRY(charge(world, request, std::uint64_t{data_pages} + 1));
    if (data_pages > kMostPages) return refuse(ENOMEM, "the kernel keeps no list of so many pages");
    const RingIndex index = world.host.new_ring(data_pages);
    if (index == 0) return refuse(ENOMEM, "no room for another ring");
    start_ring(ring_of(world, index), {.pages = data_pages,
                                       .watermark = event.flag(flag("watermark")) ? event.attr.wakeup_events : 0,
                                       .overwrite = (request.prot & PROT_WRITE) == 0,
                                       .backward = event.flag(flag("write_backward"))});
    world.rings[index] = {
        .uid = cost.uid, .pid = request.caller.pid, .shared_pages = cost.shared, .pinned_pages = cost.pinned};
    set_ring(world, event, index);
    update_header(world, event);
    return index;
}

/// The ring that a further mapping is of.
Answer<RingIndex> same_ring(World& world, const Event& event, std::uint32_t data_pages) {
    const RingIndex index = event.page->ring;
    if (world.host.ring_page(index).pages != data_pages) return refuse(EINVAL, "the event's ring is of another size");
    if (event.mappings == 0) return refuse(EBUSY, "the event's records go to another event's ring");
    return index;
}

void free_ring(World& world, RingIndex index) {
    const std::vector<Event*> writers = world.rings.at(index).writers;
    for (Event* event : writers) drop_ring(world, *event);
    world.rings.erase(index);
    world.host.free_ring(index);
}

}  // namespace

Answer<Mapping> map_event(World& world, Event& event, const MapRequest& request) {
    TRY(check_mapping(event, request));
    const std::uint64_t pages = (request.length + kPage - 1) / kPage;
    if (pages == 0) return refuse(EINVAL, "nothing is to be mapped");
    if (pages > 0x7fffffff) return refuse(ENOMEM, "no ring has so many pages");
    if (request.offset != 0) return refuse_aux(world, event, request);
    const auto data_pages = static_cast<std::uint32_t>(pages - 1);
    if (data_pages != 0 && !std::has_single_bit(data_pages))
        return refuse(EINVAL, "a ring is one page and a power of two of pages, or one page");
    const RingIndex index = event.page->ring != 0 ? TRY(same_ring(world, event, data_pages))
                                                  : TRY(make_ring(world, event, request, data_pages));
                                                  ++event.mappings;
                                                  ++world.rings.at(index).mappings;
                                                  return Mapping{index, world.host.ring_page(index).offset,
                                                                 pages * kPage};
}

void unmap_event(World& world, Event& event, const Mapping& mapping) {
    if (event.mappings == 0 || event.page->ring != mapping.ring) return;
    --event.mappings;
    if (--world.rings.at(mapping.ring).mappings == 0) free_ring(world, mapping.ring);
    end_if_unheld(world, event);
}

PollState poll_event(World& world, const Event& event) {
    const bool ended = event.own() <= EventState::exited && event.children.empty();
    if (ended || event.page->ring == 0) return {.hang_up = true};
    if (event.own() == EventState::error) return {.error = true};
    RingPage& ring = world.host.ring_page(event.page->ring);
    return {.in = __atomic_exchange_n(&ring.wake, 0, __ATOMIC_ACQ_REL) != 0};
}

}  // namespace anyperf::subsystem

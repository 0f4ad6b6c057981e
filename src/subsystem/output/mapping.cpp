// mapping.cpp: perf_mmap() and perf_mmap_close(), with the kernel's order of checks: the kind of mapping
// (check_mapping()), the length, the AUX area, then the existing ring, or the limits for a new one.
//
// Two counts. Event::mappings keeps an event alive that has no descriptor any more; RingRecord::mappings keeps the
// ring. They differ where other events write into the ring by SET_OUTPUT: those have the ring without a mapping of
// their own.
#include "subsystem/output/mapping.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>

#include "abi/attr_flags.h"
#include "subsystem/events/lifetime.h"
#include "subsystem/output/header_page.h"
#include "subsystem/output/output.h"
#include "subsystem/permissions.h"
#include "subsystem/shared/ring.h"
#include "try.h"

namespace anyperf::subsystem {
namespace {

using abi::flag;

constexpr std::uint64_t kPage = kRingPageBytes;
/// rb_alloc() limits the kernel's array of page pointers, with its head, to 4 MiB. 2^19 pointers of 8 bytes exceed
/// that.
constexpr std::uint32_t kMostPages = 1U << 18;

Ring ring_of(World& world, RingIndex index) {
    const std::span<std::byte> memory = world.host.ring_memory(index);
    return {&world.host.ring_page(index), memory.data(), memory.size() - kPage};
}

Answer<> check_mapping(const Event& event, const MapRequest& request) {
    if ((request.prot & PROT_EXEC) != 0) return refuse(EPERM, "a ring can't be mapped with PROT_EXEC");
    if (event.cpu == -1 && event.flag(flag("inherit")) && !request.inherited_without_cpu)
        return refuse(EINVAL, "an event with inherit can be mapped only if it is bound to a CPU");
    if ((request.flags & MAP_TYPE) != MAP_SHARED && (request.flags & MAP_TYPE) != MAP_SHARED_VALIDATE)
        return refuse(EINVAL, "a ring must be mapped with MAP_SHARED");
    return {};
}

/// perf_mmap_aux() for a PMU without an AUX area: EINVAL for a mistake of the caller comes before EOPNOTSUPP.
Answer<Mapping> refuse_aux(World& world, const Event& event, const MapRequest& request) {
    const RingIndex index = event.ring;
    if (index == 0) return refuse(EINVAL, "the ring must be mapped before the AUX area");
    const Ring ring = ring_of(world, index);
    const std::uint64_t offset = ring.header().aux_offset;
    const std::uint64_t size = ring.header().aux_size;
    if (offset < ring.bytes() + kPage || offset != request.offset)
        return refuse(EINVAL, "offset is not the header's aux_offset");
    if (size != request.length || !std::has_single_bit(size / kPage))
        return refuse(EINVAL, "length is not the header's aux_size, or not a power of two of pages");
    return refuse(EOPNOTSUPP, "the PMU has no AUX area");
}

/// Who pays for how many locked pages (perf_mmap_calc_limits()): first the user's share, then the process's
/// RLIMIT_MEMLOCK.
struct Charge {
    std::uint32_t uid = 0;
    std::uint64_t shared = 0;  ///< pages of the user's share
    std::uint64_t pinned = 0;  ///< pages that count against RLIMIT_MEMLOCK
};

/// The pages that the rings for which `belongs` is true have been charged for.
std::uint64_t charged(const World& world, auto belongs, std::uint64_t RingRecord::* pages) {
    std::uint64_t sum = 0;
    for (const auto& [index, record] : world.rings)
        if (belongs(record)) sum += record.*pages;
    return sum;
}

/// A user may lock mlock_kb for each CPU; what exceeds that counts as the process's locked memory. mlock_kb is rounded
/// down to pages before it is multiplied by the CPUs, as in the kernel.
Answer<Charge> charge(World& world, const MapRequest& request, std::uint64_t pages) {
    const Limits limits = world.host.limits();
    const MemoryAccount account = world.host.memory_account(request.caller);
    const std::uint64_t share = limits.mlock_kb / (kPage / 1024) * limits.cpus;
    const std::uint64_t used = std::min(
        share, charged(world, [&](const RingRecord& r) { return r.uid == account.uid; }, &RingRecord::shared_pages));
    const std::uint64_t beyond = used + pages > share ? used + pages - share : 0;
    const std::uint64_t pinned =
        charged(world, [&](const RingRecord& r) { return r.pid == request.caller.pid; }, &RingRecord::pinned_pages);
    // perf_mmap() asks for the setting and for CAP_IPC_LOCK (perf_is_paranoid()). CAP_PERFMON lifts no limit of memory.
    if (pinned + beyond > account.memlock_bytes / kPage &&
        !Rights{world.host, request.caller, limits}.may_lock_any_memory())
        return refuse(EPERM, "the ring exceeds kernel.perf_event_mlock_kb and RLIMIT_MEMLOCK");
    return Charge{account.uid, pages - beyond, beyond};
}

/// Makes the first ring of an event.
Answer<RingIndex> make_ring(World& world, Event& event, const MapRequest& request, std::uint32_t data_pages) {
    // EPERM for the limit comes before ENOMEM for the length.
    const Charge cost = TRY(charge(world, request, std::uint64_t{data_pages} + 1));
    if (data_pages > kMostPages) return refuse(ENOMEM, "the ring has more pages than the kernel can list (2^18)");
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

/// The event's existing ring, for a further mapping.
Answer<RingIndex> same_ring(World& world, const Event& event, std::uint32_t data_pages) {
    const RingIndex index = event.ring;
    if (ring_of(world, index).bytes() != data_pages * kPage) return refuse(EINVAL, "the event's ring has another size");
    // The event has a ring without having mapped it, so the ring is another event's.
    if (event.mappings == 0) return refuse(EBUSY, "the event's records go to another event's ring");
    return index;
}

/// Events that were redirected to the ring (SET_OUTPUT) lose it, too: without a mapping it has no reader
/// (perf_mmap_close()).
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
    if (pages == 0) return refuse(EINVAL, "length is 0");
    if (pages > 0x7fffffff) return refuse(ENOMEM, "length is too large for a ring");
    if (request.offset != 0) return refuse_aux(world, event, request);
    const auto data_pages = static_cast<std::uint32_t>(pages - 1);
    if (data_pages != 0 && !std::has_single_bit(data_pages))
        return refuse(EINVAL, "length is not one page, or one page and a power of two of pages");
    const RingIndex index = event.ring != 0 ? TRY(same_ring(world, event, data_pages))
                                                  : TRY(make_ring(world, event, request, data_pages));
                                                  ++event.mappings;
                                                  ++world.rings.at(index).mappings;
                                                  return Mapping{index, world.host.ring_offset(index), pages * kPage};
}

void unmap_event(World& world, Event& event, const Mapping& mapping) {
    if (event.mappings == 0 || event.ring != mapping.ring) return;
    --event.mappings;
    if (--world.rings.at(mapping.ring).mappings == 0) free_ring(world, mapping.ring);
    end_if_unreferenced(world, event);
}

// perf_poll(): POLLHUP without a ring, or once nothing counts any more; POLLERR in error state; POLLIN once for each
// wake-up, so reading the state clears it.
PollState poll_event(World& world, const Event& event) {
    const bool ended = event.requested_state() <= EventState::exited && event.children.empty();
    if (ended || event.ring == 0) return {.hang_up = true};
    if (event.requested_state() == EventState::error) return {.error = true};
    RingPage& ring = world.host.ring_page(event.ring);
    return {.in = __atomic_exchange_n(&ring.wake_pending, 0, __ATOMIC_ACQ_REL) != 0};
}

}  // namespace anyperf::subsystem

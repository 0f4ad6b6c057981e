#include "subsystem/output/header_page.h"

#include "abi/attr_flags.h"
#include "subsystem/events/totals.h"
#include "subsystem/shared/page_values.h"
#include "subsystem/shared/ring.h"

namespace anyperf::subsystem {

namespace {

/// Whether its thread may read it by rdpmc (agent/read_counter.h): a hardware event that the thread has opened
/// for itself, and that counts nothing else.
bool is_readable_by_rdpmc(const Event& event) {
    constexpr std::uint64_t kInherits = abi::flag("inherit");
    return event.source().kind == Source::Kind::counters && !event.wiring.software && event.task != nullptr &&
           event.task == event.opener && !event.cpu_wide && event.user_reads && !event.flag(kInherits);
}

}  // namespace

void update_header(World& world, Event& event) {
    const RingIndex index = event.ring;
    // A child writes into its parent's ring, whose header page describes the parent.
    if (index == 0 || event.kind != Kind::opened) return;
    const Total own = own_total(world, event);
    RingPage& ring = world.host.ring_page(index);
    auto& header = *reinterpret_cast<abi::MmapPage*>(world.host.ring_memory(index).data());
    const bool readable = is_readable_by_rdpmc(event);
    const RingLock held(world, ring.lock);
    if (!held) return;
    const bool by_rdpmc = readable && event.page->state == EventState::counting;
    const std::uint64_t count = own.member.value + event.inherited_totals.count;
    publish(header, {.enabled = own.enabled + event.inherited_totals.enabled,
                     .running = own.running + event.inherited_totals.running,
                     .index = by_rdpmc ? event.index + 1 : 0,
                     .offset = static_cast<std::int64_t>(by_rdpmc ? offset_of_source(*event.page) : count),
                     .readable = readable});
}

}  // namespace anyperf::subsystem

#include "subsystem/output/header_page.h"

#include "subsystem/events/totals.h"
#include "subsystem/shared/ring.h"

namespace anyperf::subsystem {

void update_header(World& world, Event& event) {
    const RingIndex index = event.ring;
    // A child writes into its parent's ring, whose header page describes the parent.
    if (index == 0 || event.kind != Kind::opened) return;
    const Total own = own_total(world, event);
    RingPage& ring = world.host.ring_page(index);
    auto& header = *reinterpret_cast<abi::MmapPage*>(world.host.ring_memory(index).data());
    const RingLock held(world, ring.lock);
    if (!held) return;
    publish(header, {.enabled = own.enabled + event.inherited_totals.enabled,
                     .running = own.running + event.inherited_totals.running,
                     .index = 0,  // no counter to read by rdpmc: `offset` is the whole count
                     .offset = static_cast<std::int64_t>(own.member.value + event.inherited_totals.count)});
}

}  // namespace anyperf::subsystem

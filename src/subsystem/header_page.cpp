#include "subsystem/header_page.h"

#include "subsystem/read.h"
#include "subsystem/shared/ring.h"

namespace anyperf::subsystem {

void update_header(World& world, Event& event) {
    const RingIndex index = event.page->ring;
    if (index == 0 || event.kind != Kind::opened) return;
    const Total own = own_total(world, event);
    RingPage& ring = world.host.ring_page(index);
    auto& header = *reinterpret_cast<abi::MmapPage*>(world.host.ring_memory(index).data());
    const LockHeld held(world, ring.lock);
    publish(header, {.enabled = own.enabled + event.bequest.enabled,
                     .running = own.running + event.bequest.running,
                     .index = 0,
                     .offset = static_cast<std::int64_t>(own.member.value + event.bequest.count)});
}

}  // namespace anyperf::subsystem

// rings.cpp: see rings.h.
#include "resident/rings.h"

#include <sys/mman.h>

#include "engine/freestanding/pages.h"
#include "resident/own_values.h"
#include "resident/request.h"
#include "subsystem/shared/page_count.h"

namespace anyperf::resident {

using engine::at_address;
using engine::is_error;
using subsystem::Ring;

Ring ring_of(Thread& thread, RingIndex index) {
    Process& process = *known_process(*thread.engine);
    if (index == 0 || index >= kMaximumRings) return {};
    RingPage& page = process.rings[index];
    const engine::Held held{process.lock};
    RingView& view = process.ring_views[index];
    if (view.address != 0 && view.offset == page.offset && view.pages == page.pages)
        return {&page, at_address<std::byte>(view.address)};
    if (view.address != 0)
        engine::release_pages(engine::at_address<void>(view.address),
                              (1 + std::uint64_t{view.pages}) * engine::kPageBytes);
    view = {};
    if (page.offset == 0) return {};
    const long got = engine::map_own_pages(0, (1 + std::uint64_t{page.pages}) * engine::kPageBytes,
                                           PROT_READ | PROT_WRITE, MAP_SHARED, thread.engine->run_fd, page.offset);
    if (is_error(got)) return {};
    view = {static_cast<std::uint64_t>(got), page.offset, page.pages};
    return {&page, at_address<std::byte>(view.address)};
}

void publish(Thread& thread, EventPage& event) {
    const Ring ring = ring_of(thread, event.ring);
    if (ring.memory == nullptr) return;
    const std::uint64_t clock = task_clock();
    const OwnLock lock{thread, ring.page->lock};
    subsystem::publish(ring.header(),
                       {.enabled = enabled_at(event, clock),
                        .running = running_at(event, clock),
                        .index = 0,
                        .offset = static_cast<std::int64_t>(count_at(event, own_value(thread, event.source)))});
}

}  // namespace anyperf::resident

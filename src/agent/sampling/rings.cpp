// rings.cpp: a process that writes to a ring has its own mapping of it, apart from any mapping of the application's:
// the event may have been opened and mapped by another process, and an application may unmap its ring at any time.
//
// The broker gives numbers and memory of freed rings to other rings. So a mapping is used only while its place equals
// that in the ring's page.
#include "agent/sampling/rings.h"

#include <asm/unistd.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "abi/mmap_page.h"
#include "agent/clocks.h"
#include "agent/sampling/local_read.h"
#include "engine/freestanding/pages.h"
#include "subsystem/shared/page_values.h"

namespace anyperf::agent {

using engine::at_address;
using engine::is_error;
using subsystem::Ring;

namespace {

/// Where the page says that the ring is. Both members come from shared memory that may change, so place_of() reads them
/// once.
struct Place {
    std::uint64_t offset = 0;
    std::uint32_t pages = 0;
};

Place place_of(const RingPage& page) {
    return {__atomic_load_n(&page.offset, __ATOMIC_RELAXED), __atomic_load_n(&page.pages, __ATOMIC_RELAXED)};
}

constexpr std::uint64_t bytes_of(std::uint32_t pages) {
    return (1 + std::uint64_t{pages}) * engine::kPageBytes;
}

/// Whether a ring can be at the place: after the arrays, within the file, and with a power of two of data pages,
/// because positions in a ring wrap around by a mask. Programs can write the record that names the place, so it may be
/// wrong.
bool is_possible(const Place& place, int file) {
    constexpr std::uint32_t kMostPages = 1U << 18;
    struct stat about{};
    return place.offset >= run::kRingsOffset && place.offset % engine::kPageBytes == 0 && place.pages <= kMostPages &&
           (place.pages & (place.pages - 1)) == 0 &&
           !is_error(engine::kernel_call(__NR_fstat, static_cast<unsigned>(file), engine::address_of(&about))) &&
           place.offset <= static_cast<std::uint64_t>(about.st_size) &&
           bytes_of(place.pages) <= static_cast<std::uint64_t>(about.st_size) - place.offset;
}

}  // namespace

Ring ring_of(Thread& thread, RingIndex index) {
    Process& process = *existing_process(*thread.engine);
    if (index == 0 || !process.rings.contains(index)) return {};
    RingPage& page = process.rings[index];
    const Place place = place_of(page);
    const engine::LockGuard held{process.lock};
    // The number may belong to another ring than at the time of the mapping. Then the old mapping is released.
    RingView& view = process.ring_views[index];
    const std::uint64_t data = bytes_of(place.pages) - engine::kPageBytes;
    if (view.address != 0 && view.offset == place.offset && view.pages == place.pages)
        return {&page, at_address<std::byte>(view.address), data};
    if (view.address != 0) engine::release_pages(engine::at_address<void>(view.address), bytes_of(view.pages));
    view = {};
    const int file = thread.engine->run_fd;
    if (!is_possible(place, file)) return {};
    const long got =
        engine::map_own_pages(bytes_of(place.pages), PROT_READ | PROT_WRITE, MAP_SHARED, file, place.offset);
    if (is_error(got)) return {};
    view = {static_cast<std::uint64_t>(got), place.offset, place.pages};
    return {&page, at_address<std::byte>(view.address), data};
}

namespace {

EventIndex number_of(const Thread& thread, const EventPage& event) {
    return static_cast<EventIndex>(&event - &existing_process(*thread.engine)->events[0]);
}

}  // namespace

void publish(Thread& thread, EventPage& event) {
    const Ring ring = ring_of(thread, event.ring);
    if (ring.memory == nullptr) return;
    const std::uint64_t clock = task_clock(thread);
    const PageLockGuard lock{thread, ring.page->lock};
    if (!lock) return;
    const bool readable = (ring.header().capabilities & abi::capability("cap_user_rdpmc")) != 0;
    const bool by_rdpmc = readable && event.state == subsystem::EventState::counting;
    subsystem::publish(
        ring.header(),
        {.enabled = enabled_at(event, clock),
         .running = running_at(event, clock),
         .index = by_rdpmc ? number_of(thread, event) + 1 : 0,
         .offset = static_cast<std::int64_t>(by_rdpmc ? subsystem::offset_of_source(event)
                                                      : count_at(event, local_value(thread, event.source))),
         .readable = readable});
}

}  // namespace anyperf::agent

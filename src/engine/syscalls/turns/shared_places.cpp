// shared_places.cpp: the shared mappings of a process that takes turns. A futex in one of them is known by the object
// and the offset, in all processes; any other by its address space and address, which is even (futex(2),
// get_futex_key() in kernel/futex/core.c).
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>

#include "engine/freestanding/pages.h"
#include "engine/syscalls/turn_calls.h"

namespace anyperf::engine::turn_calls {

namespace {

constexpr std::uint64_t kIsObject = std::uint64_t{1} << 63;
constexpr std::uint64_t kIsAnonymous = kIsObject | std::uint64_t{1} << 62;
constexpr std::uint64_t kIsSegment = kIsObject | std::uint64_t{1} << 61;

struct Place {
    std::uint64_t start, end;
    std::uint64_t object;
    std::uint64_t offset;
};

/// The shared mappings of this process. A fork's child has a copy.
struct Places {
    static constexpr std::size_t kMost = 2000;
    std::size_t count;
    Place place[kMost];
};

Places* places_of(const Engine& engine) {
    return static_cast<Places*>(engine.shared_places);
}

void add(Engine& engine, const Place& place) {
    if (engine.shared_places == nullptr) engine.shared_places = reserve_pages(page_up(sizeof(Places)));
    Places* const places = places_of(engine);
    if (places == nullptr || places->count == Places::kMost) return;
    places->place[places->count++] = place;
}

}  // namespace

void forget_mapping(Engine& engine, std::uint64_t start, std::uint64_t bytes) {
    Places* const places = places_of(engine);
    if (places == nullptr) return;
    const std::uint64_t end = page_up(start + bytes);
    for (std::size_t i = 0; i < places->count;) {
        const Place was = places->place[i];
        if (was.end <= start || was.start >= end) {
            ++i;
            continue;
        }
        places->place[i] = places->place[--places->count];
        if (was.start < start) add(engine, {was.start, start, was.object, was.offset});
        if (was.end > end) add(engine, {end, was.end, was.object, was.offset + (end - was.start)});
    }
}

void note_mapping(Engine& engine, std::uint64_t start, std::uint64_t bytes, std::uint64_t flags, std::uint64_t fd,
                  std::uint64_t offset) {
    forget_mapping(engine, start, bytes);
    if ((flags & MAP_TYPE) == MAP_PRIVATE) return;
    Place place{start, page_up(start + bytes), 0, offset};
    struct stat about{};
    if ((flags & MAP_ANONYMOUS) != 0) {
        place.object = kIsAnonymous | ++engine.turns->objects;
        place.offset = 0;
    } else if (!is_error(kernel_call(__NR_fstat, fd, address_of(&about)))) {
        place.object = kIsObject | about.st_dev << 40 | about.st_ino;
    }
    if (place.object != 0) add(engine, place);
}

void note_segment(Engine& engine, std::uint64_t start, std::uint64_t bytes, std::uint64_t id) {
    forget_mapping(engine, start, bytes);
    add(engine, {start, page_up(start + bytes), kIsSegment | id, 0});
}

void forget_segment(Engine& engine, std::uint64_t start) {
    Places* const places = places_of(engine);
    if (places == nullptr) return;
    for (std::size_t i = 0; i < places->count;) {
        const Place& place = places->place[i];
        if ((place.object & kIsSegment) == kIsSegment && place.start - place.offset == start)
            places->place[i] = places->place[--places->count];
        else
            ++i;
    }
}

void move_mapping(Engine& engine, std::uint64_t from, std::uint64_t bytes, std::uint64_t to, std::uint64_t new_bytes) {
    const Places* const places = places_of(engine);
    if (places == nullptr) return;
    Place moved{};
    for (std::size_t i = 0; i < places->count; ++i)
        if (places->place[i].start <= from && from < places->place[i].end) moved = places->place[i];
    forget_mapping(engine, from, bytes);
    if (from != to) forget_mapping(engine, to, new_bytes);
    if (moved.object == 0) return;
    add(engine, {to, page_up(to + new_bytes), moved.object, moved.offset + (from - moved.start)});
}

run::TurnKey futex_key(const Engine& engine, std::uint64_t address, bool is_private) {
    const Places* const places = places_of(engine);
    if (!is_private && places != nullptr)
        for (std::size_t i = 0; i < places->count; ++i) {
            const Place& place = places->place[i];
            if (place.start <= address && address < place.end)
                return {place.object, place.offset + (address - place.start)};
        }
    // As in the kernel, a futex of a private mapping is another one for calls without FUTEX_PRIVATE_FLAG.
    return {engine.turn_space, address | (is_private ? 0 : 1)};
}

}  // namespace anyperf::engine::turn_calls

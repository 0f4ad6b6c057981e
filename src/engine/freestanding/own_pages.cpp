// own_pages.cpp: an unordered array of slots. Ranges come and go with arenas, threads and rings, so slots are used
// again, and a search looks at all of them. The array is static, because the list must work before the engine has any
// memory.
#include "engine/freestanding/own_pages.h"

namespace anyperf::engine {

constinit OwnPages own_pages;

bool OwnPages::add(std::uint64_t start, std::uint64_t end) {
    const LockGuard held{lock_};
    std::size_t free = 0;
    while (free < used_ && ranges_[free].end != 0) ++free;
    // The caller must not keep the memory: the application could see and unmap it, since it is not in the list.
    if (free == kCapacity) return false;
    if (free == used_) ++used_;
    ranges_[free] = {start, end};
    return true;
}

void OwnPages::remove(std::uint64_t start, std::uint64_t end) {
    const LockGuard held{lock_};
    for (std::size_t i = 0; i < used_; ++i)
        if (ranges_[i].start >= start && ranges_[i].end <= end) ranges_[i] = {};
    while (used_ > 0 && ranges_[used_ - 1].end == 0) --used_;
}

std::uint64_t OwnPages::bytes() {
    const LockGuard held{lock_};
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < used_; ++i) sum += ranges_[i].end - ranges_[i].start;
    return sum;
}

// Returns the lowest range, so that a caller can walk from gap to gap (for_each_part() in
// syscalls/memory/application_maps.cpp).
OwnPages::Range OwnPages::first_in(std::uint64_t start, std::uint64_t end) {
    const LockGuard held{lock_};
    return lowest_in(start, end);
}

OwnPages::Range OwnPages::lowest_in(std::uint64_t start, std::uint64_t end) const {
    Range first;
    for (std::size_t i = 0; i < used_; ++i) {
        const Range& range = ranges_[i];
        if (range.end == 0 || range.start >= end || range.end <= start) continue;
        if (first.end == 0 || range.start < first.start) first = range;
    }
    return first;
}

void OwnPages::set_area(Range area) {
    const LockGuard held{lock_};
    area_ = area;
    next_ = area.start;
}

// From the last place on, and then from the start: what was freed lately is not used at once, so that a pointer to it
// faults.
std::uint64_t OwnPages::next_place(std::uint64_t bytes) {
    const LockGuard held{lock_};
    if (bytes > area_.end - area_.start) return 0;
    for (bool again = false;;) {
        if (next_ > area_.end || bytes > area_.end - next_) {
            if (again) return 0;
            again = true;
            next_ = area_.start;
        }
        const Range taken = lowest_in(next_, next_ + bytes);
        if (taken.end == 0) {
            next_ += bytes;
            return next_ - bytes;
        }
        next_ = taken.end;
    }
}

}  // namespace anyperf::engine

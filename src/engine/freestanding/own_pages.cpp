#include "engine/freestanding/own_pages.h"

namespace anyperf::engine {

constinit OwnPages own_pages;

bool OwnPages::add(std::uint64_t start, std::uint64_t end) {
    const LockGuard held{lock_};
    std::size_t free = 0;
    while (free < used_ && ranges_[free].end != 0) ++free;
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

OwnPages::Range OwnPages::first_in(std::uint64_t start, std::uint64_t end) {
    const LockGuard held{lock_};
    Range first;
    for (std::size_t i = 0; i < used_; ++i) {
        const Range& range = ranges_[i];
        if (range.end == 0 || range.start >= end || range.end <= start) continue;
        if (first.end == 0 || range.start < first.start) first = range;
    }
    return first;
}

}  // namespace anyperf::engine

#include "engine/freestanding/pages_ahead.h"

#include "engine/freestanding/thread_faults.h"

namespace anyperf::engine {

void PagesAhead::make_ready(const void* pages, std::size_t bytes) {
    const Around around;
    touch_pages(pages, bytes);
}

PagesAhead::Around::Around() : counting_(is_counting()) {
    if (!counting_) return;
    of_thread_ = faults_of_thread().minor;
    before_ = counted_.faults;
}

// What make_ready() has added meanwhile is among them.
PagesAhead::Around::~Around() {
    if (counting_) counted_.faults = before_ + faults_of_thread().minor - of_thread_;
}

// What has been used much will mostly be used more, so a quarter as much again is made ready, within limits.
void PagesAhead::make_ready(std::uint64_t start, std::size_t used, std::size_t room) {
    constexpr std::size_t kLeast = 4 * kPageBytes;
    constexpr std::size_t kMost = 64 * kPageBytes;
    const std::size_t ahead = std::clamp(used / 4, kLeast, kMost);
    std::size_t end = std::min(page_up(used + ahead), page_up(room));
    const std::size_t large = large_from(start);
    if (used <= large)
        end = std::min(end, large);
    else if (ready_ <= large)
        prefer_large_pages(start + large, (start + room) & ~(kLargePageBytes - 1));
    make_ready(at_address<const void>(start + ready_), end - ready_);
    ready_ = end;
}

}  // namespace anyperf::engine

// pages_ahead.h: memory that is used from its start on. The kernel allocates its pages some at a time, ahead of their
// use, because a fault for each page costs more: 0.5 to 1 us on most machines, 12 us on a virtual machine whose
// hypervisor handles each fault, where a page of a call costs 1 us, and its first access 5 to 10 us.
//
// A small program should not pay for a large page, and a large one should not pay for 512 small ones. So the first
// kSmallBytes at least, or those of begin(), have small pages, and what follows from the next boundary on has large
// ones.
//
// The kernel counts each of these pages as a fault of the thread that asked for it. Where the program's faults are
// counted, these are not among them, so from then on their sum is kept (PagesAhead::faults()).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/freestanding/pages.h"

namespace anyperf::engine {

/// Not synchronised.
class PagesAhead {
  public:
    /// At least so many bytes have small pages: exactly so many where the memory begins that far before a large page.
    static constexpr std::size_t kSmallBytes = std::size_t{960} << 10;

    /// At least so many bytes have small pages in place of kSmallBytes. Before the first use().
    void begin(std::size_t small_bytes) { small_bytes_ = small_bytes; }

    /// The first `used` bytes of the memory at `start`, which has room for `room`, will be written.
    void use(std::uint64_t start, std::size_t used, std::size_t room) {
        if (used > ready_) [[unlikely]]
            make_ready(start, used, room);
    }
    /// Bytes that have pages; a multiple of pages.
    std::size_t ready() const { return ready_; }
    /// About how many pages that is: a large one counts once. `start` as for use(). Where the kernel has no large pages
    /// the number is too low.
    std::size_t touched_pages(std::uint64_t start) const {
        const std::size_t small = std::min<std::size_t>(ready_, large_from(start));
        return small / kPageBytes + (ready_ - small + kLargePageBytes - 1) / kLargePageBytes;
    }
    /// Has the kernel allocate these pages, and adds what it counts as faults to faults().
    static void make_ready(const void* pages, std::size_t bytes);
    /// From here on faults() is kept: a thread is about to count its page faults.
    static void begin_counting() { __atomic_store_n(&counted_.begun, true, __ATOMIC_RELAXED); }
    static bool is_counting() { return __atomic_load_n(&counted_.begun, __ATOMIC_RELAXED); }
    /// The faults that the kernel has counted in this process for pages that were made ready, a large one once. Memory
    /// that all threads use is made ready under the cache's lock.
    static std::uint64_t faults() { return counted_.faults; }
    /// All of the calling thread's faults between construction and destruction are among faults().
    class Around {
      public:
        Around();
        ~Around();
        Around(const Around&) = delete;
        Around& operator=(const Around&) = delete;

      private:
        bool counting_;
        std::uint64_t of_thread_ = 0;
        std::uint64_t before_ = 0;
    };

    /// The pages after the first `bytes` have been discarded.
    void discarded(std::size_t bytes = 0) { ready_ = std::min(ready_, page_up(bytes)); }

  private:
    /// Bytes from the start to the first large page.
    std::size_t large_from(std::uint64_t start) const { return large_page_up(start + small_bytes_) - start; }
    void make_ready(std::uint64_t start, std::size_t used, std::size_t room);

    /// In one page: the faults are first added to when `begun` has been written, so that takes none.
    struct alignas(16) Counted {
        std::uint64_t faults;
        bool begun;
    };
    constinit static inline Counted counted_{};

    std::size_t ready_ = 0;
    std::size_t small_bytes_ = kSmallBytes;
};

}  // namespace anyperf::engine

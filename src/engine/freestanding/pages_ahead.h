// pages_ahead.h: memory that is used from its start on. The kernel allocates its pages some at a time, ahead of their
// use, because a fault for each page costs more: 0.5 to 1 us on most machines, 12 us on a virtual machine whose
// hypervisor handles each fault, where a page of a call costs 1 us.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/freestanding/pages.h"

namespace anyperf::engine {

/// Not synchronised. It begins as zeros, like the memory.
class PagesAhead {
  public:
    /// The first `used` bytes of the memory at `start`, which has room for `room`, will be written.
    void use(std::uint64_t start, std::size_t used, std::size_t room) {
        if (used > ready_) [[unlikely]]
            make_ready(start, used, room);
    }
    /// Bytes that have pages; a multiple of pages.
    std::size_t ready() const { return ready_; }
    /// The pages after the first `bytes` have been discarded.
    void discarded(std::size_t bytes = 0) { ready_ = std::min(ready_, page_up(bytes)); }

  private:
    void make_ready(std::uint64_t start, std::size_t used, std::size_t room);

    std::size_t ready_ = 0;
};

}  // namespace anyperf::engine

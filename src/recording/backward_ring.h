// backward_ring.h: reads a ring that is overwritten (attr.write_backward): the newest records replace the oldest, and
// nobody waits for the reader (perf_event_open(2), "write_backward").
//
// Such a ring is written from its end to its begin: data_head falls, and the newest record begins there. Read upwards
// from data_head, records lead from one to the next older one, up to the first that a newer one has overwritten. (If
// the ring were written forwards, its oldest record would begin at an unknown place.) The writer must be paused
// meanwhile, by PERF_EVENT_IOC_PAUSE_OUTPUT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "recording/ring.h"

namespace anyperf::recording {

/// A view of a mapping, which must outlive it.
class BackwardRing {
  public:
    /// `memory` is the whole mapping: the header page and the data pages.
    explicit BackwardRing(std::span<const std::byte> memory);

    /// A copy of the records that were written since the last call and are still whole, the oldest first. The writer is
    /// paused. Contents that cannot be records end the copy: programs of a run may have written anything.
    std::vector<std::byte> take();

  private:
    std::span<const std::byte> header_;
    std::span<const std::byte> data_;
    std::uint64_t taken_ = 0;  ///< data_head of the last call
};

}  // namespace anyperf::recording

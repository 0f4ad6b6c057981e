// backward_ring.h: reads a ring that is overwritten (attr.write_backward): the newest records replace the oldest, and
// the writer never waits for the reader (perf_event_open(2), "write_backward").
//
// Such a ring is written from its end towards its beginning: data_head decreases, and the newest record begins there.
// Each record is followed by the next older one, up to the first that a newer record has overwritten in part. If the
// ring were written forwards, nothing would say where its oldest record begins. While the ring is read, the writer must
// be paused by PERF_EVENT_IOC_PAUSE_OUTPUT.
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

    /// A copy of the records that were written since the last call and are still whole, the oldest first. Precondition:
    /// the writer is paused. Contents that cannot be records end the copy: programs of a run may have written anything.
    std::vector<std::byte> take();

  private:
    std::span<const std::byte> header_;
    std::span<const std::byte> data_;
    std::uint64_t taken_ = 0;  ///< data_head of the last call
};

}  // namespace anyperf::recording

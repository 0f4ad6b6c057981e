// ring_source.h: the interface that opens events and maps their rings: the kernel, or a run with a virtual PMU. The
// recorder is the same for both. Only the way to map memory and to wake the reader differs.
#pragma once

#include <cstddef>
#include <expected>
#include <memory>
#include <span>

#include "anyperf/kernel.h"
#include "recording/ring.h"

namespace anyperf::recording {

/// Used by one thread.
class RingSource {
  public:
    virtual ~RingSource() = default;

    /// Opens, reads and controls events.
    virtual counting::Kernel& kernel() = 0;
    /// Who writes to the rings.
    virtual Ring::Writer writer() const = 0;
    /// Maps the ring of an event, header page first; -errno on failure. `overwrite`: old records are replaced when the
    /// ring is full, and the mapping is read-only.
    virtual std::expected<std::span<std::byte>, int> map(int event, std::size_t bytes, bool overwrite) = 0;
    /// Ends a mapping of map(), before the event is closed.
    virtual void unmap(int event, std::span<std::byte> memory) = 0;
    /// Records that were dropped because the lock of a ring could not be had, and that no LOST record counts. The
    /// kernel has no such lock.
    virtual std::uint64_t locked_out() { return 0; }
    /// Readable after a mapped ring has reached its watermark, until clear_wake().
    virtual int wake_fd() = 0;
    virtual void clear_wake() = 0;
};

/// Events and rings of the kernel.
std::unique_ptr<RingSource> system_rings();

}  // namespace anyperf::recording

// tracepoint_events.h: the kernel's tracepoints as events of the PMU `perf`, as libpfm names them: a system is an
// event, its tracepoints are the unit masks ("perf::sched:sched_switch").
//
// The rows are like those of the image, with the flags event_flag::host and mask_flag::host: their texts and masks are
// not in the image but in one block of memory, at offsets from the row itself. So rows need no other context, and
// name_of() and masks() work for both.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "events/catalog/detection/machine_files.h"
#include "events/catalog/format.h"

namespace anyperf::catalog {

class TracepointEvents {
  public:
    TracepointEvents() = default;

    /// Reads the systems in tracing/events of the first debugfs of /proc/mounts, as libpfm does, or else in events of
    /// the first tracefs. Both are readable by root only, unless they are mounted otherwise; empty if neither can be
    /// read. Opens a file for each tracepoint, some two thousand.
    static TracepointEvents read(const Files& files);

    /// In the order in which the kernel lists them.
    std::span<const EventRow> events() const { return events_; }

  private:
    std::unique_ptr<std::byte[]> block_;
    std::span<const EventRow> events_;
};

}  // namespace anyperf::catalog

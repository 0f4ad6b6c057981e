// counts.h: the records READ, LOST_SAMPLES and CGROUP. LOST is written by shared/ring.h, THROTTLE and UNTHROTTLE by
// shared/throttle.h.
#pragma once

#include <cstdint>
#include <string_view>

#include "subsystem/records/tasks.h"
#include "subsystem/shared/read_layout.h"

namespace anyperf::subsystem {

/// An inherited event's own values when its task ends (attr.inherit_stat), with the parent's id.
Record read_record(PidAndTid task, std::uint64_t read_format, const ReadValues& values);

/// Samples that the hardware dropped before they became records.
Record lost_samples_record(std::uint64_t lost);

/// A new cgroup. `path` is relative to the root of its hierarchy.
Record cgroup_record(std::uint64_t inode, std::string_view path);

}  // namespace anyperf::subsystem

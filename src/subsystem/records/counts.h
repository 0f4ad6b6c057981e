// counts.h: records of counts and of what was lost, and of cgroups: READ, LOST_SAMPLES, CGROUP. LOST is ring.h's,
// THROTTLE and UNTHROTTLE are throttle.h's.
#pragma once

#include <cstdint>
#include <string_view>

#include "subsystem/records/tasks.h"
#include "subsystem/shared/read_layout.h"

namespace anyperf::subsystem {

/// What an inherited event has counted in a task that ends (attr.inherit_stat): its own values, the parent's id.
Record read_record(TaskIds task, std::uint64_t read_format, const ReadValues& values);

/// Samples that hardware dropped before they were records.
Record lost_samples_record(std::uint64_t lost);

/// A cgroup that was made; `path` from its hierarchy's root.
Record cgroup_record(std::uint64_t inode, std::string_view path);

}  // namespace anyperf::subsystem

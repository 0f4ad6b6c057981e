// inode.h: what an event's descriptor is as a file: an anonymous inode, and its name in /proc.
#pragma once

#include "engine/syscalls/table.h"
#include "resident/process.h"

namespace anyperf::resident {

/// Calls about the inode behind a descriptor, which is the argument `kIndex`: as the kernel answers for its own events.
template <unsigned kIndex>
long of_anonymous_inode(engine::Call& call, EventIndex event);

/// The same for fstatat(2), statx(2) and utimensat(2), where they name a descriptor and no path; else false.
bool stat_by_descriptor(engine::Call& call, long& answer);
bool times_by_descriptor(engine::Call& call, long& answer);

/// readlink(2) and readlinkat(2) of /proc/PID/fd/N; false where that is no event.
bool readlink_event(engine::Call& call, long& answer);

}  // namespace anyperf::resident

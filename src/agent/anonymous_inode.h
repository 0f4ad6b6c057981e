// anonymous_inode.h: makes an event's descriptor, which is a socket in a run, look like the kernel's, which is an
// anonymous inode, called anon_inode:[perf_event] in /proc. Calls that would show the difference are answered here.
#pragma once

#include "agent/process.h"
#include "engine/syscalls/call.h"

namespace anyperf::agent {

/// Does a call about the inode of a descriptor, which is argument `kIndex`, on an anonymous inode in its place.
template <unsigned kIndex>
long on_anonymous_inode(engine::Call& call, EventIndex event);

/// The same for fstatat(2), statx(2) and utimensat(2) where they name a descriptor and no path; else returns false.
bool stat_by_descriptor(engine::Call& call, long& answer);
bool times_by_descriptor(engine::Call& call, long& answer);

/// readlink(2) and readlinkat(2) of /proc/PID/fd/N; false where that is not an event.
bool readlink_event(engine::Call& call, long& answer);

}  // namespace anyperf::agent

// anonymous_inode.h: makes an event's descriptor look like the kernel's. In a run the descriptor is a socket; the
// kernel's is an anonymous inode, which /proc shows as anon_inode:[perf_event]. This file answers the calls that would
// show the difference.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/process.h"
#include "engine/syscalls/call.h"

namespace anyperf::agent {

/// Makes the call on an anonymous inode instead of the descriptor that argument `kIndex` names.
template <unsigned kIndex>
long on_anonymous_inode(engine::Call& call, EventIndex event);

/// The same for fstatat(2), statx(2), fchownat(2), fchmodat2(2) and utimensat(2) on an event: AT_EMPTY_PATH with an
/// empty path. False for all other calls.
bool by_empty_path(engine::Call& call, long& answer);
/// The same for utimensat(2) on an event, also with a null path. False for all other calls.
bool times_by_descriptor(engine::Call& call, long& answer);

/// Opens /proc/PID/fdinfo/N, if N is an event's descriptor of this process: `flags` of open(2). False for all other
/// paths.
bool open_event_info(engine::Call& call, std::string_view path, std::uint64_t flags, long& answer);

/// Answers readlink(2) and readlinkat(2) of /proc/PID/fd/N. False if that descriptor is not an event.
bool readlink_event(engine::Call& call, long& answer);

}  // namespace anyperf::agent

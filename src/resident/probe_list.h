// probe_list.h: /sys/kernel/tracing/uprobe_events: what is written to it defines tracepoints.
#pragma once

#include <string_view>

#include "engine/syscalls/table.h"

namespace anyperf::resident {

/// Before the file at `path` is opened with these flags: removes all probes where it is that list and is cut. False:
/// it can't be, and the answer is in `answer`.
bool may_open_probe_list(engine::Call& call, std::string_view path, std::uint64_t flags, long& answer);

/// After it: its descriptor, or an error.
void opened_probe_list(engine::Call& call, std::string_view path, std::uint64_t flags, long answer);

/// write(2): true where it was to that list, and is done.
bool write_probe_list(engine::Call& call, long& answer);

}  // namespace anyperf::resident

// uprobe_events_file.h: /sys/kernel/tracing/uprobe_events: each line that is written to it defines or removes a probe
// with a tracepoint's number (Documentation/trace/uprobetracer.rst of Linux). The broker parses the lines and keeps the
// list.
#pragma once

#include <string_view>

#include "engine/syscalls/call.h"

namespace anyperf::agent {

/// Called before the file at `path` is opened with these flags. If it opens the list for writing with O_TRUNC, all
/// probes are removed first. False: the broker refuses that; then `answer` is the error, and the file must not be
/// opened.
bool before_probe_list_open(engine::Call& call, std::string_view path, std::uint64_t flags, long& answer);

/// Called after that open with its result: from now on writes to the descriptor are recognized by its inode.
void after_probe_list_open(engine::Call& call, std::string_view path, std::uint64_t flags, long answer);

/// write(2). True if it was to the list, and has been answered.
bool write_probe_list(engine::Call& call, long& answer);

}  // namespace anyperf::agent

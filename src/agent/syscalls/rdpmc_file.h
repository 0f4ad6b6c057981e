// rdpmc_file.h: /sys/devices/cpu/rdpmc, which says who may execute rdpmc: nobody (0), threads with a mapped event (1),
// or everybody (2). The kernel acts on a write at once (set_attr_rdpmc() in arch/x86/events/core.c), and so does the
// broker. The file only shows what the broker has taken.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/syscalls/call.h"

namespace anyperf::agent {

/// Called before the file at `path` is opened with `flags`. If that opens `rdpmc` for writing, later writes are
/// recognized, and the flags no longer truncate the file: in sysfs that does nothing.
void before_rdpmc_open(engine::Call& call, std::string_view path, std::uint64_t& flags);

/// write(2). True if it was to `rdpmc`, and has been answered.
bool write_rdpmc(engine::Call& call, long& answer);

}  // namespace anyperf::agent

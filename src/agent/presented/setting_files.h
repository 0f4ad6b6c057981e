// setting_files.h: files of the presented machine that are settings: `rdpmc` of the CPU's PMU, and the numbers in
// /proc/sys/kernel and sysfs that programs may change. As in the kernel, a write is checked and takes effect at once.
//
// `rdpmc` says which threads may execute rdpmc: none (0), those with a mapped event (1), or all (2). The broker acts on
// a write (set_attr_rdpmc() in arch/x86/events/core.c), and the file only shows what it has taken. The broker reads the
// numbers from their files at each open of an event.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/syscalls/call.h"

namespace anyperf::agent {

/// Called before the file at `path` is opened with `flags`. If that opens a setting for writing, later writes are
/// recognized, and the flags no longer truncate the file: there that does nothing.
void before_setting_open(engine::Call& call, std::string_view path, std::uint64_t& flags);

/// write(2). True if it was to a setting, and has been answered.
bool write_setting(engine::Call& call, long& answer);

}  // namespace anyperf::agent

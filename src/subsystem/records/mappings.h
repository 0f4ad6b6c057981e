// mappings.h: the records MMAP and MMAP2 (perf_event_mmap_output() of Linux 6.18). Both report a new mapping; which
// event gets which is in record_interests.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "subsystem/records/tasks.h"

namespace anyperf::subsystem {

/// A new mapping of a task. `name` is the file's path, or `//anon`, `[stack]`, `[heap]`, `[vdso]` and the like.
struct TaskMapping {
    PidAndTid task;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;  ///< in the file; for `//anon` the address
    std::uint32_t device_major = 0;
    std::uint32_t device_minor = 0;
    std::uint64_t inode = 0;
    std::uint64_t generation = 0;
    std::uint32_t prot = 0;   ///< PROT_*
    std::uint32_t flags = 0;  ///< MAP_PRIVATE or MAP_SHARED, with MAP_DENYWRITE and the like
    std::string name;
    std::span<const std::byte> build_id;  ///< at most 20 bytes; empty: the file has none

    bool executable() const;
};

/// The path, or "//toolong" as the kernel writes for a path that does not fit.
std::string_view name_in_record(std::string_view path);

/// MMAP, whose misc has MMAP_DATA if the mapping is not executable.
Record mmap_record(const TaskMapping& mapped);

/// `wants_build_id` is attr.build_id: the build id, if the file has one, replaces device, inode and generation.
Record mmap2_record(const TaskMapping& mapped, bool wants_build_id);

}  // namespace anyperf::subsystem

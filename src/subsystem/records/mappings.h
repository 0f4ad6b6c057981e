// mappings.h: MMAP and MMAP2. Both tell a mapping; which of them an event gets, and of which mappings, is in
// interests.h.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "subsystem/records/tasks.h"

namespace anyperf::subsystem {

/// A mapping as a record tells it. `name` is the file's path, or `//anon`, `[stack]`, `[heap]`, `[vdso]` … (name_of).
struct Mapped {
    TaskIds task;
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;  ///< in the file; of `//anon` its address
    std::uint32_t device_major = 0;
    std::uint32_t device_minor = 0;
    std::uint64_t inode = 0;
    std::uint64_t generation = 0;
    std::uint32_t prot = 0;   ///< PROT_*
    std::uint32_t flags = 0;  ///< MAP_PRIVATE or MAP_SHARED and what goes with it
    std::string name;
    std::span<const std::byte> build_id;  ///< up to 20 bytes; empty: the file has none

    bool executable() const;
};

/// The path, or what the kernel writes where it is too long for it.
std::string_view name_in_record(std::string_view path);

Record mmap_record(const Mapped& mapped);

/// `wants_build_id`: attr.build_id, which puts the id, where there is one, in the place of the device and inode.
Record mmap2_record(const Mapped& mapped, bool wants_build_id);

}  // namespace anyperf::subsystem

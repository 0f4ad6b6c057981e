// application_maps.h: the application's memory mappings: /proc/self/maps and the files like it, without the engine's
// memory.
//
// The kernel merges neighbouring mappings that are alike, so one line may cover memory of the application and of the
// engine. Each part of a line that is not the engine's becomes a line of its own. Permissions are those that the
// application has asked for: the engine makes code readable, and write-protects what it has translated
// (memory/protected_code.h), which splits mappings. In maps they are shown whole. In a deterministic run devices and
// inode numbers are those that stat(2) shows, and no figure counts pages that are in memory.
//
// Limits: in smaps the figures below such a line (Rss and so on) remain those of the whole mapping, and a mapping that
// is split stays so. In numa_maps a line has no end address, so it is shown or left out by its first byte. A listing is
// a snapshot of the moment of its open, while the kernel's own is made as it is read.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/syscalls/call.h"

namespace anyperf::engine {

/// Whether a file of this name in /proc/PID lists mappings: maps, smaps, numa_maps.
bool is_maps_file(std::string_view name);

/// Opens such a file of this process, without the engine's mappings. Returns a descriptor that can only be read, or a
/// negated errno: EACCES unless `flags` (open(2)) ask for reading only. `name` has to end with a NUL.
long open_filtered_maps(Engine& engine, std::string_view name, std::uint64_t flags);

/// A mapping of the process, or the application's part of one.
struct ApplicationMapping {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t protection = 0;  ///< PROT_*
    std::uint64_t flags = 0;       ///< MAP_SHARED or MAP_PRIVATE
    std::uint64_t offset = 0;      ///< in the file, of `start`
    std::uint64_t device = 0;      ///< of the file: major number in the upper half, minor in the lower
    std::uint64_t inode = 0;       ///< 0: not a file's
    bool is_stack = false;         ///< the process's initial stack
};

/// Writes the application's mappings to `out` in the order of their addresses, up to `room` of them. Returns how many
/// it wrote.
std::size_t list_mappings(ApplicationMapping* out, std::size_t room);

/// Calls `visit` with each of the application's mappings, in the order of their addresses.
void for_each_mapping(void (*visit)(void* context, const ApplicationMapping&), void* context);

/// The mapping that has this address, which may be the engine's. `start` and `end` are 0 if nothing is mapped there.
ApplicationMapping mapping_at(std::uint64_t address);

}  // namespace anyperf::engine

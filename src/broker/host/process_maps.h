// process_maps.h: reads what side-band records say about a process's mappings and namespaces, from /proc and, for the
// build id, from the mapped file. A process may end or change its mappings at any time, so the answers can be empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "subsystem/subsystem.h"

namespace anyperf::broker {

/// The mapping that has `address`: name, file, flags, and the offset of `address` in the file. Nothing if there is none
/// or /proc cannot be read.
std::optional<subsystem::TaskMapping> mapping_of(std::int32_t pid, std::uint64_t address);

/// The build id of a mapped file (ELF note NT_GNU_BUILD_ID), up to 20 bytes; empty if it has none or if the
/// file at that path is another one now.
std::vector<std::byte> build_id_of(std::int32_t pid, const subsystem::TaskMapping& mapped);

/// The file at this path with the device and inode that /proc/PID/maps shows for it, or the errno of the reason why it
/// cannot be probed.
subsystem::ProbedFile probed_file(const std::string& path);

/// The namespaces of a thread; zeros for those that cannot be read.
subsystem::NamespaceLinks namespaces_of(std::int32_t pid, std::int32_t tid);

}  // namespace anyperf::broker

// process_maps.h: what a process has mapped, as records tell it: from /proc, and the build id from the file itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "subsystem/subsystem.h"

namespace anyperf::broker {

/// The mapping that has `address`: name, file, flags; nothing where there is none or /proc can't be read.
std::optional<subsystem::Mapped> mapping_of(std::int32_t pid, std::uint64_t address);

/// The build id of a mapped file (ELF note NT_GNU_BUILD_ID), up to 20 bytes; empty where it has none.
std::vector<std::byte> build_id_of(std::int32_t pid, const subsystem::Mapped& mapped);

/// The file at this path, as processes that map it see it in their lists of mappings; or why it can't be probed.
subsystem::ProbedFile probed_file(const std::string& path);

/// The namespaces that a thread is in.
subsystem::NamespaceLinks namespaces_of(std::int32_t pid, std::int32_t tid);

}  // namespace anyperf::broker

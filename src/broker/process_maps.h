// process_maps.h: what a process has mapped, as records tell it: from /proc, and the build id from the file itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "subsystem/subsystem.h"

namespace anyperf::broker {

/// The mapping that has `address`: name, file, flags; nothing where there is none or /proc can't be read.
std::optional<subsystem::Mapped> mapping_of(std::int32_t pid, std::uint64_t address);

/// The build id of a mapped file (ELF note NT_GNU_BUILD_ID), up to 20 bytes; empty where it has none.
std::vector<std::byte> build_id_of(std::int32_t pid, const subsystem::Mapped& mapped);

/// The namespaces that a thread is in.
subsystem::NamespaceLinks namespaces_of(std::int32_t pid, std::int32_t tid);

}  // namespace anyperf::broker

// own_maps.h: /proc/self/maps as it would be without the engine.
#pragma once

#include <cstdint>
#include <string_view>

#include "engine/syscalls/table.h"

namespace anyperf::engine {

/// Whether a file of this name in /proc/self lists mappings.
bool lists_mappings(std::string_view name);

/// Opens such a file as it stands at this moment, without what is the engine's: the descriptor, or a negated errno.
/// `flags` as open(2) has them.
long open_mappings(std::string_view name, std::uint64_t flags);

/// What of a mapping is the application's.
struct OwnMapping {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
    std::uint64_t protection = 0;  ///< PROT_*
    std::uint64_t flags = 0;       ///< MAP_SHARED or MAP_PRIVATE
    std::uint64_t offset = 0;      ///< in the file, of `start`
    std::uint64_t device = 0;      ///< of the file: major number in the upper half, minor in the lower
    std::uint64_t inode = 0;       ///< 0: of no file
};

/// The application's mappings by rising address, as many as there is room for; how many.
std::size_t list_mappings(OwnMapping* out, std::size_t room);

/// Calls `told` with each of them.
void each_mapping(void (*told)(void* context, const OwnMapping&), void* context);

/// The mapping at this address, be it the engine's; one of no bytes where there is none.
OwnMapping mapping_at(std::uint64_t address);

}  // namespace anyperf::engine

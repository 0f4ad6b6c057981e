// ring_mappings.cpp: finds a mapping by what munmap(2) knows of it.
#include "broker/state/ring_mappings.h"

#include <algorithm>

namespace anyperf::broker {

std::optional<subsystem::Mapping> RingMappings::take(subsystem::EventIndex event, std::int32_t process,
                                                     std::uint64_t offset, std::uint64_t bytes) {
    const auto [first, last] = mappings_.equal_range(event);
    const auto known = std::find_if(first, last, [&](const auto& entry) {
        const Owned& owned = entry.second;
        return owned.process == process && owned.mapping.offset == offset && owned.mapping.bytes == bytes;
    });
    if (known == last) return std::nullopt;
    const subsystem::Mapping mapping = known->second.mapping;
    mappings_.erase(known);
    return mapping;
}

}  // namespace anyperf::broker

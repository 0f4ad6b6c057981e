// structures.h: how callers' structures of other sizes than ours are taken (libpfm(3): programs are compiled against
// older and newer headers).
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::pfm {

/// The size a caller says its structure has: 0 is the first version's. Says whether we can fill it: not smaller than
/// `ours`, and everything that we don't know of is 0.
bool acceptable_size(const void* structure, std::size_t said, std::size_t ours);

/// An event's number in the interface: the PMU's id and the event's private index.
constexpr int event_number(std::uint32_t pmu_id, std::uint32_t private_index) {
    return static_cast<int>(pmu_id << 21 | private_index);
}
constexpr std::uint32_t pmu_id_of(int number) {
    return static_cast<std::uint32_t>(number) >> 21;
}
constexpr std::uint32_t private_index_of(int number) {
    return static_cast<std::uint32_t>(number) & 0x1fffff;
}

}  // namespace anyperf::pfm

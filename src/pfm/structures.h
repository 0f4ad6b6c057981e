// structures.h: rules of the interface's structures and numbers. A program may be compiled against an older or newer
// header than ours (libpfm(3)), so every structure has the size that the caller knows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace anyperf::pfm {

/// Whether a structure of which the caller says that it has `said` bytes can be filled. 0 means the first version,
/// which is ours. A smaller size is refused; of a larger structure the part beyond `ours` must be zero.
bool acceptable_size(const void* structure, std::size_t said, std::size_t ours);

/// An event's number in the interface: the PMU's id in bits 21 and up, the event's private index below.
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

// mmap_page.h: the first page of a mapped event (perf_event_open(2), "MMAP layout"; struct perf_event_mmap_page).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "abi/constant.h"

namespace anyperf::abi {

/// The kernel's structure, byte for byte. `lock` is a sequence lock: odd or changed means read again.
struct MmapPage {
    std::uint32_t version;
    std::uint32_t compat_version;
    std::uint32_t lock;
    std::uint32_t index;  ///< of the hardware counter, plus 1; 0: not on a counter
    std::int64_t offset;  ///< to add to the counter's value
    std::uint64_t time_enabled;
    std::uint64_t time_running;
    std::uint64_t capabilities;  ///< kMmapCapabilities
    std::uint16_t pmc_width;     ///< bits of the counter
    std::uint16_t time_shift;
    std::uint32_t time_mult;
    std::uint64_t time_offset;
    std::uint64_t time_zero;
    std::uint32_t size;
    std::uint32_t reserved_1;
    std::uint64_t time_cycles;
    std::uint64_t time_mask;
    std::uint8_t reserved[116 * 8];
    std::uint64_t data_head;  ///< the kernel's; read it with acquire order
    std::uint64_t data_tail;  ///< the user's; write it with release order
    std::uint64_t data_offset;
    std::uint64_t data_size;
    std::uint64_t aux_head;
    std::uint64_t aux_tail;
    std::uint64_t aux_offset;  ///< the user's, before the AUX area is mapped
    std::uint64_t aux_size;
};

static_assert(offsetof(MmapPage, data_head) == 1024);

inline constexpr std::array kMmapCapabilities{
    Bit{0, "cap_bit0", "always 0"},
    Bit{1, "cap_bit0_is_deprecated", "always 1: bit 0 has no meaning"},
    Bit{2, "cap_user_rdpmc", "rdpmc may be used while index is not 0"},
    Bit{3, "cap_user_time", "time_shift, time_mult and time_offset are valid"},
    Bit{4, "cap_user_time_zero", "time_zero is valid"},
    Bit{5, "cap_user_time_short", "time_cycles and time_mask are valid"},
};

}  // namespace anyperf::abi

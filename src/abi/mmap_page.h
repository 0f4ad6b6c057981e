// mmap_page.h: the first page of a mapped event. It has the event's count, for readers in user space, and the positions
// of its ring (perf_event_open(2), "MMAP layout"; struct perf_event_mmap_page of uapi/linux/perf_event.h). The
// subsystem writes such pages (subsystem/shared/ring.h), and src/counting reads those of the kernel
// (counting/user_page.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "abi/constant.h"

namespace anyperf::abi {

/// The kernel's structure, byte for byte.
///
/// `lock` is the sequence number of a seqlock. A reader of the count, the times or the capabilities reads `lock` before
/// and after, and repeats if it was odd or has changed. The count is `offset` plus, if `index` is not 0, the value of
/// the counter as rdpmc reads it.
struct MmapPage {
    std::uint32_t version;
    std::uint32_t compat_version;
    std::uint32_t lock;
    std::uint32_t index;         ///< number of the hardware counter plus 1; 0: the event is not on a counter
    std::int64_t offset;         ///< to be added to the counter's value
    std::uint64_t time_enabled;  ///< ns
    std::uint64_t time_running;  ///< ns
    std::uint64_t capabilities;  ///< kMmapCapabilities
    std::uint16_t pmc_width;     ///< width of the counter in bits; sign-extend the value of rdpmc from it
    std::uint16_t time_shift;    ///< ns since the last update = time_offset + (tsc * time_mult >> time_shift)
    std::uint32_t time_mult;
    std::uint64_t time_offset;
    std::uint64_t time_zero;  ///< time in records = time_zero + (tsc * time_mult >> time_shift)
    std::uint32_t size;       ///< of the structure up to `reserved`
    std::uint32_t reserved_1;
    std::uint64_t time_cycles;  ///< with cap_user_time_short: the full clock at the last update
    std::uint64_t time_mask;    ///< with cap_user_time_short: the bits that the short clock has
    std::uint8_t reserved[116 * 8];
    std::uint64_t data_head;    ///< written by the kernel; read it with acquire order
    std::uint64_t data_tail;    ///< written by the reader; write it with release order
    std::uint64_t data_offset;  ///< of the ring in the mapping, in bytes
    std::uint64_t data_size;
    std::uint64_t aux_head;
    std::uint64_t aux_tail;
    std::uint64_t aux_offset;  ///< set by the user before the AUX area is mapped
    std::uint64_t aux_size;
};

static_assert(offsetof(MmapPage, lock) == 8 && offsetof(MmapPage, index) == 12 && offsetof(MmapPage, offset) == 16);
static_assert(offsetof(MmapPage, time_enabled) == 24 && offsetof(MmapPage, time_running) == 32);
static_assert(offsetof(MmapPage, capabilities) == 40 && offsetof(MmapPage, pmc_width) == 48);
static_assert(offsetof(MmapPage, time_shift) == 50 && offsetof(MmapPage, time_mult) == 52);
static_assert(offsetof(MmapPage, time_offset) == 56 && offsetof(MmapPage, time_zero) == 64);
static_assert(offsetof(MmapPage, size) == 72 && offsetof(MmapPage, time_cycles) == 80);
static_assert(offsetof(MmapPage, time_mask) == 88 && offsetof(MmapPage, reserved) == 96);
static_assert(offsetof(MmapPage, data_head) == 1024 && offsetof(MmapPage, aux_size) == 1080);

/// Bits of `capabilities`.
inline constexpr std::array kMmapCapabilities{
    Bit{0, "cap_bit0", "always 0"},
    Bit{1, "cap_bit0_is_deprecated", "always 1: bit 0 has no meaning"},
    Bit{2, "cap_user_rdpmc", "rdpmc may be used while index is not 0"},
    Bit{3, "cap_user_time", "time_shift, time_mult and time_offset are valid"},
    Bit{4, "cap_user_time_zero", "time_zero is valid"},
    Bit{5, "cap_user_time_short", "time_cycles and time_mask are valid"},
};

/// The mask of a bit of `capabilities`. A name that is not in the table does not compile.
consteval std::uint64_t capability(std::string_view name) {
    return bit(kMmapCapabilities, name);
}

}  // namespace anyperf::abi

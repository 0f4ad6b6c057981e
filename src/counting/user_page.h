// user_page.h: a counter read without a system call, from the page that the kernel shares (perf_event_open(2), "struct
// perf_event_mmap_page"). The kernel changes the page while it schedules the thread; `lock` tells that it did.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "anyperf/count.h"

namespace anyperf::counting {

/// The part of perf_event_mmap_page that self-monitoring reads.
struct UserPage {
    std::uint32_t version;
    std::uint32_t compat_version;
    std::uint32_t lock;
    std::uint32_t index;
    std::int64_t offset;
    std::uint64_t time_enabled;
    std::uint64_t time_running;
    std::uint64_t capabilities;
    std::uint16_t pmc_width;
    std::uint16_t time_shift;
    std::uint32_t time_mult;
    std::uint64_t time_offset;
    std::uint64_t time_zero;
    std::uint32_t size;
    std::uint32_t reserved_1;
    std::uint64_t time_cycles;
    std::uint64_t time_mask;
};
static_assert(offsetof(UserPage, capabilities) == 40 && offsetof(UserPage, time_mask) == 88);

/// Bits of UserPage::capabilities.
inline constexpr std::uint64_t kCapBit0IsDeprecated = 1 << 1;
inline constexpr std::uint64_t kCapUserRdpmc = 1 << 2;
inline constexpr std::uint64_t kCapUserTime = 1 << 3;
inline constexpr std::uint64_t kCapUserTimeShort = 1 << 5;

/// The two instructions, so that a test can be the processor.
struct Instructions {
    std::uint64_t (*read_counter)(std::uint32_t index);
    std::uint64_t (*read_clock)();
};

/// rdpmc and rdtsc; both null where this processor has no such thing.
Instructions processor_instructions();

/// The count as of now, or nothing where a read(2) is needed: the event has no hardware counter now, user space may not
/// read it, or the page has no clock. Only right on the thread that is counted.
std::optional<Count> read_user_page(const UserPage& page, const Instructions& instructions);

}  // namespace anyperf::counting

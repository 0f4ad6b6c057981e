// attr.h: struct perf_event_attr, the argument of perf_event_open(2), with every field up to Linux 6.19. It is
// anyperf's own copy, so that anyperf builds on old headers and can use new fields. perf_event_open(2), "Arguments",
// documents the fields; uapi/linux/perf_event.h has those that the manual lacks.
#pragma once

#include <cstdint>

namespace anyperf::abi {

/// The kernel's structure, byte for byte. `size` is the number of bytes that the kernel reads; 0 counts as 64, the
/// first published size. A union has the name of one of its members; the comment names the others.
struct Attr {
    std::uint32_t type = 0;
    std::uint32_t size = 0;
    std::uint64_t config = 0;
    std::uint64_t sample_period = 0;  ///< in events; with the flag `freq`: sample_freq, in Hz
    std::uint64_t sample_type = 0;
    std::uint64_t read_format = 0;
    std::uint64_t flags = 0;  ///< the bit fields in the order of the header: bit 0 is `disabled`, bit 1 `inherit` …
    std::uint32_t wakeup_events = 0;  ///< in samples; with the flag `watermark`: wakeup_watermark, in bytes
    std::uint32_t bp_type = 0;
    std::uint64_t config1 = 0;  ///< or bp_addr, kprobe_func, uprobe_path
    std::uint64_t config2 = 0;  ///< or bp_len, kprobe_addr, probe_offset
    std::uint64_t branch_sample_type = 0;
    std::uint64_t sample_regs_user = 0;
    std::uint32_t sample_stack_user = 0;
    std::int32_t clockid = 0;
    std::uint64_t sample_regs_intr = 0;
    std::uint32_t aux_watermark = 0;
    std::uint16_t sample_max_stack = 0;
    std::uint16_t reserved_2 = 0;
    std::uint32_t aux_sample_size = 0;
    std::uint32_t aux_action = 0;  ///< bit 0 aux_start_paused, 1 aux_pause, 2 aux_resume
    std::uint64_t sig_data = 0;
    std::uint64_t config3 = 0;
    std::uint64_t config4 = 0;

    bool operator==(const Attr&) const = default;
};

static_assert(sizeof(Attr) == 144);

}  // namespace anyperf::abi

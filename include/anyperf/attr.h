// attr.h: perf_event_attr with every field up to the newest documented kernel (perf_event_open(2), "struct
// perf_event_attr"; uapi/linux/perf_event.h of Linux 6.18 for what the manual lacks). Our own copy, so that anyperf
// builds on old headers.
#pragma once

#include <cstdint>

namespace anyperf::abi {

/// The kernel's structure, byte for byte. `size` says how much of it the kernel is to read; unions have the name of
/// their first use, the others are given beside them.
struct Attr {
    std::uint32_t type = 0;
    std::uint32_t size = 0;
    std::uint64_t config = 0;
    std::uint64_t sample_period = 0;  ///< or sample_freq, in Hz, where `freq` is set
    std::uint64_t sample_type = 0;
    std::uint64_t read_format = 0;
    std::uint64_t flags = 0;          ///< the one-bit fields, disabled first: abi/attr_fields.h names each
    std::uint32_t wakeup_events = 0;  ///< or wakeup_watermark, in bytes, where `watermark` is set
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

// attr_sizes.h: the published sizes of perf_event_attr, and what each added (PERF_ATTR_SIZE_VERn).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace anyperf::abi {

struct AttrSize {
    std::uint32_t bytes;
    std::string_view name;
    std::string_view adds;
};

inline constexpr std::array kAttrSizes{
    AttrSize{64, "PERF_ATTR_SIZE_VER0", "the first published structure"},
    AttrSize{72, "PERF_ATTR_SIZE_VER1", "config2"},
    AttrSize{80, "PERF_ATTR_SIZE_VER2", "branch_sample_type"},
    AttrSize{96, "PERF_ATTR_SIZE_VER3", "sample_regs_user, sample_stack_user"},
    AttrSize{104, "PERF_ATTR_SIZE_VER4", "sample_regs_intr"},
    AttrSize{112, "PERF_ATTR_SIZE_VER5", "aux_watermark, sample_max_stack"},
    AttrSize{120, "PERF_ATTR_SIZE_VER6", "aux_sample_size"},
    AttrSize{128, "PERF_ATTR_SIZE_VER7", "sig_data"},
    AttrSize{136, "PERF_ATTR_SIZE_VER8", "config3"},
    AttrSize{144, "PERF_ATTR_SIZE_VER9", "config4"},
};

/// The smallest published size that holds the first `bytes` bytes; the newest where none does.
std::uint32_t published_size(std::uint32_t bytes);

}  // namespace anyperf::abi

// attr_sizes.h: the published sizes of perf_event_attr (PERF_ATTR_SIZE_VERn of uapi/linux/perf_event.h).
//
// The structure only grows at its end, and attr.size says which version a program was compiled with. The kernel accepts
// a larger size than its own only if the rest is zero; otherwise it returns E2BIG and writes its own size to attr.size
// (perf_copy_attr()). That size shows which fields the kernel knows.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace anyperf::abi {

struct AttrSize {
    std::uint32_t bytes;
    std::string_view name;
    std::string_view adds;  ///< the fields that this version added
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

/// The smallest published size that is at least `bytes`; the largest published size if `bytes` is larger than all.
std::uint32_t published_size(std::uint32_t bytes);

}  // namespace anyperf::abi

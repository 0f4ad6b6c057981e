// branch_types.h: bits of attr.branch_sample_type (perf_event_open(2), "branch_sample_type"; uapi/linux/perf_event.h,
// enum perf_branch_sample_type, Linux 6.18), and their words in `perf record -j`. Some bits select branches (ANY, COND,
// CALL_STACK, …). The others select privilege levels, or what an entry contains (branch_entry.h).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace anyperf::abi {

struct BranchBit {
    unsigned bit;
    std::string_view name;
    std::string_view word;  ///< as in perf-record(1), option -j

    constexpr std::uint64_t mask() const { return 1ull << bit; }
};

inline constexpr std::array kBranchBits{
    BranchBit{0, "PERF_SAMPLE_BRANCH_USER", "u"},
    BranchBit{1, "PERF_SAMPLE_BRANCH_KERNEL", "k"},
    BranchBit{2, "PERF_SAMPLE_BRANCH_HV", "hv"},
    BranchBit{3, "PERF_SAMPLE_BRANCH_ANY", "any"},
    BranchBit{4, "PERF_SAMPLE_BRANCH_ANY_CALL", "any_call"},
    BranchBit{5, "PERF_SAMPLE_BRANCH_ANY_RETURN", "any_ret"},
    BranchBit{6, "PERF_SAMPLE_BRANCH_IND_CALL", "ind_call"},
    BranchBit{7, "PERF_SAMPLE_BRANCH_ABORT_TX", "abort_tx"},
    BranchBit{8, "PERF_SAMPLE_BRANCH_IN_TX", "in_tx"},
    BranchBit{9, "PERF_SAMPLE_BRANCH_NO_TX", "no_tx"},
    BranchBit{10, "PERF_SAMPLE_BRANCH_COND", "cond"},
    BranchBit{11, "PERF_SAMPLE_BRANCH_CALL_STACK", "stack"},
    BranchBit{12, "PERF_SAMPLE_BRANCH_IND_JUMP", "ind_jmp"},
    BranchBit{13, "PERF_SAMPLE_BRANCH_CALL", "call"},
    BranchBit{14, "PERF_SAMPLE_BRANCH_NO_FLAGS", "no_flags"},
    BranchBit{15, "PERF_SAMPLE_BRANCH_NO_CYCLES", "no_cycles"},
    BranchBit{16, "PERF_SAMPLE_BRANCH_TYPE_SAVE", "save_type"},
    BranchBit{17, "PERF_SAMPLE_BRANCH_HW_INDEX", "hw_index"},
    BranchBit{18, "PERF_SAMPLE_BRANCH_PRIV_SAVE", "priv"},
    BranchBit{19, "PERF_SAMPLE_BRANCH_COUNTERS", "counter"},
};

/// USER, KERNEL and HV. A filter with only these bits selects no branches, so the kernel answers EINVAL.
inline constexpr std::uint64_t kBranchPrivileges = 0x7;

}  // namespace anyperf::abi

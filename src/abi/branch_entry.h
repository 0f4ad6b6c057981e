// branch_entry.h: the flags word of a branch in a sample's branch stack: the third word of struct perf_branch_entry
// (uapi/linux/perf_event.h, Linux 6.18). The first two words are the addresses `from` and `to`.
#pragma once

#include <array>

#include "abi/bit_field.h"

namespace anyperf::abi {

/// `type`: what kind of branch it is, if branch_sample_type has TYPE_SAVE.
inline constexpr std::array kBranchKinds{
    Constant{0, "PERF_BR_UNKNOWN"},     Constant{1, "PERF_BR_COND"},      Constant{2, "PERF_BR_UNCOND"},
    Constant{3, "PERF_BR_IND"},         Constant{4, "PERF_BR_CALL"},      Constant{5, "PERF_BR_IND_CALL"},
    Constant{6, "PERF_BR_RET"},         Constant{7, "PERF_BR_SYSCALL"},   Constant{8, "PERF_BR_SYSRET"},
    Constant{9, "PERF_BR_COND_CALL"},   Constant{10, "PERF_BR_COND_RET"}, Constant{11, "PERF_BR_ERET"},
    Constant{12, "PERF_BR_IRQ"},        Constant{13, "PERF_BR_SERROR"},   Constant{14, "PERF_BR_NO_TX"},
    Constant{15, "PERF_BR_EXTEND_ABI"},
};
/// `spec`: the outcome of speculation, where the hardware reports it.
inline constexpr std::array kBranchSpeculation{
    Constant{0, "PERF_BR_SPEC_NA"},
    Constant{1, "PERF_BR_SPEC_WRONG_PATH"},
    Constant{2, "PERF_BR_NON_SPEC_CORRECT_PATH"},
    Constant{3, "PERF_BR_SPEC_CORRECT_PATH"},
};
/// `new_type`: the kind of branch if `type` is PERF_BR_EXTEND_ABI, because the four bits of `type` have no free value.
inline constexpr std::array kNewBranchKinds{
    Constant{0, "PERF_BR_NEW_FAULT_ALGN"}, Constant{1, "PERF_BR_NEW_FAULT_DATA"}, Constant{2, "PERF_BR_NEW_FAULT_INST"},
    Constant{3, "PERF_BR_NEW_ARCH_1"},     Constant{4, "PERF_BR_NEW_ARCH_2"},     Constant{5, "PERF_BR_NEW_ARCH_3"},
    Constant{6, "PERF_BR_NEW_ARCH_4"},     Constant{7, "PERF_BR_NEW_ARCH_5"},
};
/// `priv`: the privilege level, if branch_sample_type has PRIV_SAVE.
inline constexpr std::array kBranchLevels{
    Constant{0, "PERF_BR_PRIV_UNKNOWN"},
    Constant{1, "PERF_BR_PRIV_USER"},
    Constant{2, "PERF_BR_PRIV_KERNEL"},
    Constant{3, "PERF_BR_PRIV_HV"},
};

inline constexpr std::array kBranchEntryFields{
    BitField{0, 1, "mispred", {}, false},
    BitField{1, 1, "predicted", {}, false},
    BitField{2, 1, "in_tx", {}, false},
    BitField{3, 1, "abort", {}, false},
    BitField{4, 16, "cycles", {}, false},
    BitField{20, 4, "type", kBranchKinds, false},
    BitField{24, 2, "spec", kBranchSpeculation, false},
    BitField{26, 4, "new_type", kNewBranchKinds, false},
    BitField{30, 3, "priv", kBranchLevels, false},
    BitField{33, 31, "reserved", {}, false},
};
static_assert(are_contiguous(kBranchEntryFields));

}  // namespace anyperf::abi

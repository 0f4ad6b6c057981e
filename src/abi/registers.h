// registers.h: bit numbers in sample_regs_user and sample_regs_intr (enum perf_event_x86_regs and perf_event_arm_regs,
// in asm/perf_regs.h of each architecture). A sample has the registers in the order of their bits.
#pragma once

#include <array>

#include "abi/constant.h"

namespace anyperf::abi {

inline constexpr std::array kX86Registers{
    Constant{0, "ax"},   Constant{1, "bx"},   Constant{2, "cx"},   Constant{3, "dx"},   Constant{4, "si"},
    Constant{5, "di"},   Constant{6, "bp"},   Constant{7, "sp"},   Constant{8, "ip"},   Constant{9, "flags"},
    Constant{10, "cs"},  Constant{11, "ss"},  Constant{12, "ds"},  Constant{13, "es"},  Constant{14, "fs"},
    Constant{15, "gs"},  Constant{16, "r8"},  Constant{17, "r9"},  Constant{18, "r10"}, Constant{19, "r11"},
    Constant{20, "r12"}, Constant{21, "r13"}, Constant{22, "r14"}, Constant{23, "r15"},
};
/// ds, es, fs and gs. A 64-bit kernel does not save them and refuses them with EINVAL.
inline constexpr std::uint64_t kX86RefusedRegisters = 0xf000;
/// XMM0 begins at this bit; each of XMM0 to XMM15 has two bits.
inline constexpr unsigned kX86FirstVectorBit = 32;

inline constexpr std::array kArm64Registers{
    Constant{0, "x0"},   Constant{1, "x1"},   Constant{2, "x2"},   Constant{3, "x3"},   Constant{4, "x4"},
    Constant{5, "x5"},   Constant{6, "x6"},   Constant{7, "x7"},   Constant{8, "x8"},   Constant{9, "x9"},
    Constant{10, "x10"}, Constant{11, "x11"}, Constant{12, "x12"}, Constant{13, "x13"}, Constant{14, "x14"},
    Constant{15, "x15"}, Constant{16, "x16"}, Constant{17, "x17"}, Constant{18, "x18"}, Constant{19, "x19"},
    Constant{20, "x20"}, Constant{21, "x21"}, Constant{22, "x22"}, Constant{23, "x23"}, Constant{24, "x24"},
    Constant{25, "x25"}, Constant{26, "x26"}, Constant{27, "x27"}, Constant{28, "x28"}, Constant{29, "x29"},
    Constant{30, "lr"},  Constant{31, "sp"},  Constant{32, "pc"},  Constant{46, "vg"},
};
static_assert(is_ascending(kX86Registers, &Constant::value) && is_ascending(kArm64Registers, &Constant::value));

/// The first word of a REGS field: how wide the registers are (enum perf_sample_regs_abi). NONE: no registers follow.
inline constexpr std::array kRegisterAbis{
    Constant{0, "PERF_SAMPLE_REGS_ABI_NONE"},
    Constant{1, "PERF_SAMPLE_REGS_ABI_32"},
    Constant{2, "PERF_SAMPLE_REGS_ABI_64"},
};

}  // namespace anyperf::abi

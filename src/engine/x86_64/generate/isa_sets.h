// isa_sets.h: the level of each of Zydis' ISA sets, as psABI levels (decode/isa.h). A set without a row is in no level.
#pragma once

#include <Zydis/Zydis.h>

#include <array>

#include "engine/x86_64/decode/isa.h"

namespace anyperf::engine::x86_64::generate {

struct IsaSetRow {
    ZydisISASet set;
    std::uint8_t isa;
};

inline constexpr std::array kIsaSets{
    IsaSetRow{ZYDIS_ISA_SET_I86, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_I186, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_I286PROTECTED, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_I286REAL, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_I386, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_I486, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_I486REAL, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_PENTIUMREAL, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_PENTIUMMMX, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_PPRO, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_CMOV, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_FCMOV, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_X87, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_FAT_NOP, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_PAUSE, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_PREFETCH_NOP, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_SSE, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_SSE2, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_SSE2MMX, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_SSEMXCSR, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_SSE_PREFETCH, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_FXSAVE, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_FXSAVE64, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_CLFSH, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_LONGMODE, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_RDPMC, isa::kBaseline},
    IsaSetRow{ZYDIS_ISA_SET_RDTSCP, isa::kBaseline},  // in no level, and on every CPU that has one
    IsaSetRow{ZYDIS_ISA_SET_CMPXCHG16B, isa::kV2},
    IsaSetRow{ZYDIS_ISA_SET_LAHF, isa::kV2},
    IsaSetRow{ZYDIS_ISA_SET_POPCNT, isa::kV2},
    IsaSetRow{ZYDIS_ISA_SET_SSE3, isa::kV2},
    IsaSetRow{ZYDIS_ISA_SET_SSE3X87, isa::kV2},
    IsaSetRow{ZYDIS_ISA_SET_SSSE3, isa::kV2},
    IsaSetRow{ZYDIS_ISA_SET_SSSE3MMX, isa::kV2},
    IsaSetRow{ZYDIS_ISA_SET_SSE4, isa::kV2},
    IsaSetRow{ZYDIS_ISA_SET_SSE42, isa::kV2},
    IsaSetRow{ZYDIS_ISA_SET_XSAVE, isa::kV2},  // the psABI has it in v3; the presented CPUs have it from v2 on
    IsaSetRow{ZYDIS_ISA_SET_AVX, isa::kV3},
    IsaSetRow{ZYDIS_ISA_SET_AVX2, isa::kV3},
    IsaSetRow{ZYDIS_ISA_SET_AVX2GATHER, isa::kV3},
    IsaSetRow{ZYDIS_ISA_SET_BMI1, isa::kV3},
    IsaSetRow{ZYDIS_ISA_SET_BMI2, isa::kV3},
    IsaSetRow{ZYDIS_ISA_SET_F16C, isa::kV3},
    IsaSetRow{ZYDIS_ISA_SET_FMA, isa::kV3},
    IsaSetRow{ZYDIS_ISA_SET_LZCNT, isa::kV3},
    IsaSetRow{ZYDIS_ISA_SET_MOVBE, isa::kV3},
    IsaSetRow{ZYDIS_ISA_SET_RDWRFSGS, isa::kV3},  // in no level; presented from v3 on
    IsaSetRow{ZYDIS_ISA_SET_AVX512F_128, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512F_128N, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512F_256, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512F_512, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512F_KOP, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512F_SCALAR, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512BW_128, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512BW_128N, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512BW_256, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512BW_512, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512BW_KOP, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512CD_128, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512CD_256, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512CD_512, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512DQ_128, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512DQ_128N, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512DQ_256, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512DQ_512, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512DQ_KOP, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AVX512DQ_SCALAR, isa::kV4},
    IsaSetRow{ZYDIS_ISA_SET_AMX_TILE, isa::kWideVectors},
    IsaSetRow{ZYDIS_ISA_SET_AMX_INT8, isa::kWideVectors},
    IsaSetRow{ZYDIS_ISA_SET_AMX_BF16, isa::kWideVectors},
};

/// Instructions that a CPU without their extension executes as an older one: as a nop, or as bsf and bsr without the F3
/// prefix, which compilers rely on for tzcnt.
inline constexpr std::array kOlderMeanings{
    ZYDIS_MNEMONIC_TZCNT,     ZYDIS_MNEMONIC_LZCNT,       ZYDIS_MNEMONIC_ENDBR32,  ZYDIS_MNEMONIC_ENDBR64,
    ZYDIS_MNEMONIC_RDSSPD,    ZYDIS_MNEMONIC_RDSSPQ,      ZYDIS_MNEMONIC_CLDEMOTE, ZYDIS_MNEMONIC_PREFETCH,
    ZYDIS_MNEMONIC_PREFETCHW, ZYDIS_MNEMONIC_PREFETCHWT1, ZYDIS_MNEMONIC_BNDCL,    ZYDIS_MNEMONIC_BNDCN,
    ZYDIS_MNEMONIC_BNDCU,     ZYDIS_MNEMONIC_BNDLDX,      ZYDIS_MNEMONIC_BNDMK,    ZYDIS_MNEMONIC_BNDMOV,
    ZYDIS_MNEMONIC_BNDSTX,
};

/// Instruction::isa of an instruction.
inline std::uint8_t isa_of(const ZydisDecodedInstruction& instruction) {
    for (const ZydisMnemonic mnemonic : kOlderMeanings)
        if (instruction.mnemonic == mnemonic) return isa::kBaseline;
    std::uint8_t level = isa::kOther;
    for (const IsaSetRow& row : kIsaSets)
        if (row.set == instruction.meta.isa_set) level = row.isa;
    // EVEX encodes AVX-512 alone, in the versions of Zydis that are supported.
    if (level == isa::kOther && instruction.encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX) level = isa::kWideVectors;
    const bool reads_xcr0 = instruction.meta.isa_set == ZYDIS_ISA_SET_XSAVE ||
                            instruction.meta.isa_set == ZYDIS_ISA_SET_XSAVEC ||
                            instruction.meta.isa_set == ZYDIS_ISA_SET_XSAVEOPT;
    return static_cast<std::uint8_t>(level | (reads_xcr0 ? isa::kReadsXcr0 : 0));
}

}  // namespace anyperf::engine::x86_64::generate

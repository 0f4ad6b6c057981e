// form.h: one row of the decoder's tables, and how a row is found. The generator (generate/) writes rows, decode.cpp
// walks them; nobody else includes this.
//
// An opcode byte of a map leads to a reference: a form, a node, or 0: no such instruction. A node picks its next
// reference by some bits of the selector, a word made of everything besides the opcode that can tell two instructions
// apart. ModRM's bits are the lowest and are asked for last, so that what prefixes decide is decided without ModRM.
// The two busiest maps have a row of references for every value of their prefix bits: most instructions are found by
// one load.
#pragma once

#include <compare>
#include <cstdint>

#include "engine/x86_64/instruction.h"

namespace anyperf::engine::x86_64 {

/// Where an opcode byte is looked up.
enum class Space : std::uint8_t {
    one_byte,
    map_0f,
    map_0f38,
    map_0f3a,
    now,  ///< 3DNow!: by the suffix byte
    vex_1,
    vex_2,
    vex_3,
    evex_1,
    evex_2,
    evex_3,
    evex_5,
    evex_6,
    xop_8,
    xop_9,
    xop_a,
    none,  ///< map numbers without instructions
};
inline constexpr unsigned kSpaces = 16;

/// A row is 256 references, one an opcode byte.
constexpr bool has_row_per_prefix(Space space) {
    return space <= Space::map_0f;
}
inline constexpr unsigned kRowsPerPrefix = 16;
constexpr unsigned first_row(Space space) {
    const auto number = static_cast<unsigned>(space);
    return has_row_per_prefix(space) ? number * kRowsPerPrefix : 2 * kRowsPerPrefix + number - 2;
}
inline constexpr unsigned kRows = 2 * kRowsPerPrefix + kSpaces - 2;

constexpr bool is_vex(Space space) {
    return space >= Space::vex_1 && space <= Space::vex_3;
}
constexpr bool is_evex(Space space) {
    return space >= Space::evex_1 && space <= Space::evex_6;
}
constexpr bool is_xop(Space space) {
    return space >= Space::xop_8 && space <= Space::xop_a;
}
constexpr bool is_legacy(Space space) {
    return space <= Space::now;
}

/// Selector bits. The first four are every space's.
namespace selector {
inline constexpr unsigned kRm = 0;     // 3 bits
inline constexpr unsigned kReg = 3;    // 3 bits
inline constexpr unsigned kIsReg = 6;  // ModRM.mod is 3
inline constexpr unsigned kW = 7;
// legacy: 66 seen; the last of F3 (1), F2 (2)
inline constexpr unsigned kOperand16 = 8;
inline constexpr unsigned kRepeat = 9;  // 2 bits
// VEX, XOP
inline constexpr unsigned kL = 8;
inline constexpr unsigned kVexPp = 9;  // 2 bits
// EVEX
inline constexpr unsigned kEvexPp = 8;   // 2 bits
inline constexpr unsigned kLength = 10;  // 2 bits, L'L
inline constexpr unsigned kBroadcast = 12;
inline constexpr unsigned kMasked = 13;  // aaa is not 0
inline constexpr unsigned kZeroing = 14;

inline constexpr unsigned kBits = 11;
inline constexpr unsigned kEvexBits = 15;
}  // namespace selector

/// References of 0x8000 and up are nodes: the offset of the node's header in the array of nodes. The header says which
/// bits of the selector count: the lowest of them in bits 0 to 3, how many in the bits above. Its references follow.
inline constexpr std::uint16_t kNodeBit = 0x8000;

/// What an operand field (ModRM.reg, ModRM.rm or the opcode's low bits, VEX.vvvv) means for the general registers.
namespace role {
inline constexpr std::uint8_t kGeneral = 1;      // names a general register
inline constexpr std::uint8_t kRead = 2;         // its old value matters
inline constexpr std::uint8_t kOverwritten = 4;  // all its 64 bits are replaced, certainly
inline constexpr std::uint8_t kByte = 8;         // without REX, 4 to 7 are ah, ch, dh, bh
}  // namespace role

/// What holds of a memory operand only, or of a register in ModRM.rm only, may stand in one form for both.
namespace attribute {
inline constexpr std::uint32_t kModrm = 1u << 0;
inline constexpr std::uint32_t kLockable = 1u << 1;          // LOCK is allowed with a memory operand
inline constexpr std::uint32_t kRegisterInOpcode = 1u << 2;  // the rm role is of the opcode's low three bits
inline constexpr std::uint32_t kOffset = 1u << 3;            // mov moffs: an address of 8 bytes (4 with 67)
inline constexpr std::uint32_t kRepeats = 1u << 4;           // a string instruction under REP, REPE or REPNE
inline constexpr std::uint32_t kSegment = 1u << 5;           // an fs or gs override matters to implied memory
inline constexpr std::uint32_t kReads = 1u << 6;             // reads memory besides an explicit operand: push [m], ret
inline constexpr std::uint32_t kWrites = 1u << 7;
inline constexpr std::uint32_t kReadsOperand = 1u << 8;  // reads its ModRM memory operand
inline constexpr std::uint32_t kWritesOperand = 1u << 9;
inline constexpr std::uint32_t kVectorIndex = 1u << 10;  // needs SIB, whose index is a vector register
inline constexpr std::uint32_t kNeedsSib = 1u << 11;
inline constexpr std::uint32_t kNoRip = 1u << 12;       // #UD with a rip-relative operand
inline constexpr std::uint32_t kCounted = 1u << 13;     // a shift by imm8: with a count of 0 it leaves the flags alone
inline constexpr std::uint32_t kCountShort = 1u << 14;  // … of 8 or 16 bits, where CF is only certain below 8
inline constexpr std::uint32_t kSigned = 1u << 15;      // the immediate is sign-extended
inline constexpr std::uint32_t kSegmentOperand = 1u << 16;  // an fs or gs override matters to the ModRM memory operand
inline constexpr std::uint32_t kNow = 1u << 17;             // 3DNow!: the last byte tells which, and whether it is one
inline constexpr std::uint32_t kUnknown = 1u << 18;         // not in Zydis: length, ModRM and immediate are all we know
inline constexpr std::uint32_t kChecked = 1u << 19;  // has constraints: masks of high bits, or kNeedsSib and such
inline constexpr std::uint32_t kZeroes = 1u << 20;   // with itself a register becomes 0 whatever it held: xor, sub

/// What doesn't matter with a register in ModRM.rm.
inline constexpr std::uint32_t kOfMemory =
    kLockable | kReadsOperand | kWritesOperand | kVectorIndex | kNeedsSib | kNoRip | kSegmentOperand;
}  // namespace attribute

/// Which register numbers are instructions: an AVX register field may not name k9, three tiles must be different.
namespace constraint {
inline constexpr std::uint8_t kNoVvvv = 1u << 0;  // vvvv must be 1111
inline constexpr std::uint8_t kRegNotRm = 1u << 1;
inline constexpr std::uint8_t kRegNotVvvv = 1u << 2;
inline constexpr std::uint8_t kRmNotVvvv = 1u << 3;
inline constexpr std::uint8_t kRegNotIndex = 1u << 4;
inline constexpr std::uint8_t kVvvvNotIndex = 1u << 5;
inline constexpr std::uint8_t kAlwaysRegister = 1u << 6;  // ModRM.mod is ignored: mov to and from cr and dr
}  // namespace constraint

struct alignas(32) Form {
    RegisterSet touched = 0;  ///< implied registers; those in fields come by role
    RegisterSet read = 0;
    RegisterSet overwritten = 0;
    FlagSet flags_read = 0;
    FlagSet flags_overwritten = 0;
    ClassSet classes = 0;             ///< all but loads and stores
    std::uint16_t operand_bytes = 0;  ///< of the memory that it names
    std::uint32_t attributes = 0;
    std::uint8_t control = 0;
    std::uint8_t immediate_bytes = 0;
    std::uint8_t reg_role = 0;
    std::uint8_t rm_role = 0;
    std::uint8_t vvvv_role = 0;
    /// Bit n: the field's high bits (R'R, XB of a register, V' and the highest of vvvv) may be n.
    std::uint8_t reg_high = 0xf;
    std::uint8_t rm_high = 0xf;
    std::uint8_t vvvv_high = 0xf;
    std::uint8_t constraints = 0;
    std::uint8_t implied_bytes = 0;  ///< of other memory

    auto operator<=>(const Form&) const = default;
};

}  // namespace anyperf::engine::x86_64

// form.h: a row of the decoder's tables, and how a row is found. The generator (generate/) writes the tables,
// decode.cpp reads them; nothing else includes this.
//
// Lookup: an opcode byte in an opcode space gives a reference: to a form, to a node, or 0, if there is no instruction.
// A node selects the next reference by some bits of the *selector*, a word of everything besides the opcode that can
// distinguish two instructions (prefixes, W, L, ModRM). The bits of ModRM are tested last, so that what prefixes decide
// is decided before ModRM is read. The two busiest spaces have a row of references for each value of the prefix bits:
// most instructions are found by one load.
#pragma once

#include <compare>
#include <cstdint>

#include "engine/x86_64/decode/instruction.h"

namespace anyperf::engine::x86_64 {

/// Opcode spaces: an encoding and one of its opcode maps.
enum class Space : std::uint8_t {
    one_byte,
    map_0f,
    map_0f38,
    map_0f3a,
    now,  ///< 3DNow!: 0F 0F, selected by the suffix byte
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
    none,  ///< map numbers that have no instructions
};
inline constexpr unsigned kSpaces = 16;

/// Whether a space has a row for each value of its prefix bits. A row is 256 references, one for each opcode byte.
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

/// Bits of the selector. kRm to kW are common to all spaces.
namespace selector {
inline constexpr unsigned kRm = 0;     // 3 bits
inline constexpr unsigned kReg = 3;    // 3 bits
inline constexpr unsigned kIsReg = 6;  // ModRM.mod is 3
inline constexpr unsigned kW = 7;
// legacy: a 66 prefix; the last of F3 (1) and F2 (2)
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

/// References from 0x8000 on are nodes; the lower 15 bits are the offset of the node's header in the array of nodes.
/// The header gives the selector bits that the node tests: bits 0 to 3 are the lowest of them, the bits above their
/// number. A reference for each value follows.
inline constexpr std::uint16_t kNodeBit = 0x8000;

/// What an operand field (ModRM.reg, ModRM.rm or the opcode's low bits, VEX.vvvv) does to the general register in it.
namespace role {
inline constexpr std::uint8_t kGeneral = 1;      // names a general register
inline constexpr std::uint8_t kRead = 2;         // its old value matters
inline constexpr std::uint8_t kOverwritten = 4;  // all 64 bits are certainly replaced
inline constexpr std::uint8_t kByte = 8;         // a byte register: without REX, 4 to 7 are ah, ch, dh, bh
inline constexpr std::uint8_t kWritten = 16;     // may be changed, in part or under a condition
}  // namespace role

/// What an instruction does to the vector registers in its operand fields; for the model of cycles only.
namespace vector_role {
inline constexpr std::uint8_t kReadsReg = 1;
inline constexpr std::uint8_t kWritesReg = 2;
inline constexpr std::uint8_t kReadsRm = 4;  // if ModRM.rm is a register
inline constexpr std::uint8_t kWritesRm = 8;
inline constexpr std::uint8_t kReadsVvvv = 16;
inline constexpr std::uint8_t kStack = 32;       // works on the x87 stack
inline constexpr std::uint8_t kTestsFlags = 64;  // needs the status flags (adc, cmov, jcc)
inline constexpr std::uint8_t kSetsFlags = 128;
}  // namespace vector_role

/// Properties of a form. One form may serve memory and register operands: the bits in kOfMemory are ignored if ModRM.rm
/// is a register.
namespace attribute {
inline constexpr std::uint32_t kModrm = 1u << 0;
inline constexpr std::uint32_t kLockable = 1u << 1;          // LOCK is allowed with a memory operand
inline constexpr std::uint32_t kRegisterInOpcode = 1u << 2;  // rm_role is that of the register in the opcode byte
inline constexpr std::uint32_t kOffset = 1u << 3;   // mov moffs: an absolute address of 8 bytes (4 with a 67 prefix)
inline constexpr std::uint32_t kRepeats = 1u << 4;  // a string instruction under REP, REPE or REPNE
inline constexpr std::uint32_t kSegment = 1u << 5;  // an fs or gs override matters to implied memory
inline constexpr std::uint32_t kReads = 1u << 6;    // reads memory other than its ModRM operand: push [m], ret
inline constexpr std::uint32_t kWrites = 1u << 7;   // writes such memory
inline constexpr std::uint32_t kReadsOperand = 1u << 8;  // reads its ModRM memory operand
inline constexpr std::uint32_t kWritesOperand = 1u << 9;
inline constexpr std::uint32_t kVectorIndex = 1u << 10;  // needs a SIB byte with a vector register as its index
inline constexpr std::uint32_t kNeedsSib = 1u << 11;
inline constexpr std::uint32_t kNoRip = 1u << 12;           // #UD with a rip-relative operand
inline constexpr std::uint32_t kImmediateShift = 1u << 13;  // a shift by imm8: a count of 0 leaves the flags unchanged
inline constexpr std::uint32_t kNarrowShift = 1u << 14;     // … of 8 or 16 bits: CF is certain for counts below 8
inline constexpr std::uint32_t kSigned = 1u << 15;          // the immediate is sign-extended
inline constexpr std::uint32_t kSegmentOperand = 1u << 16;  // an fs or gs override matters to the ModRM memory operand
inline constexpr std::uint32_t k3dNow = 1u << 17;           // 3DNow!: the last byte selects the instruction
inline constexpr std::uint32_t kUnknown = 1u << 18;  // unknown to Zydis: only its length, ModRM and immediate are known
inline constexpr std::uint32_t kConstrained = 1u << 19;  // has constraints: masks of high bits, kNeedsSib and such
inline constexpr std::uint32_t kZeroes = 1u << 20;       // xor, sub: with itself a register becomes 0 whatever it held

inline constexpr std::uint32_t kCountsTwice = 1u << 21;  // x86_64::kCountsTwice

/// One more than the index of its class in kWidthClasses; 0: it is in none.
inline constexpr unsigned kWidthShift = 28;

/// Instruction::isa.
inline constexpr unsigned kIsaShift = 24;
inline constexpr std::uint32_t kIsa = 15u << kIsaShift;

/// Attributes without effect if ModRM.rm is a register.
inline constexpr std::uint32_t kOfMemory =
    kLockable | kReadsOperand | kWritesOperand | kVectorIndex | kNeedsSib | kNoRip | kSegmentOperand;
}  // namespace attribute

/// Restrictions on register numbers; an encoding that violates one is #UD. For example there is no k9, and the three
/// tiles of an AMX product must differ.
namespace constraint {
inline constexpr std::uint8_t kNoVvvv = 1u << 0;  // vvvv must be 1111
inline constexpr std::uint8_t kRegNotRm = 1u << 1;
inline constexpr std::uint8_t kRegNotVvvv = 1u << 2;
inline constexpr std::uint8_t kRmNotVvvv = 1u << 3;
inline constexpr std::uint8_t kRegNotIndex = 1u << 4;
inline constexpr std::uint8_t kVvvvNotIndex = 1u << 5;
inline constexpr std::uint8_t kAlwaysRegister = 1u << 6;  // ModRM.mod is ignored: mov to and from cr and dr
}  // namespace constraint

/// Everything about an instruction that its opcode and selector decide.
struct alignas(32) Form {
    RegisterSet touched = 0;  ///< implied registers only; those in operand fields have a role
    RegisterSet read = 0;
    RegisterSet overwritten = 0;
    FlagSet flags_read = 0;
    FlagSet flags_overwritten = 0;
    std::uint16_t classes = 0;        ///< without loads and stores, which depend on ModRM, and kWidthClasses
    std::uint16_t operand_bytes = 0;  ///< of its explicit memory operand; 0: depends on state
    RegisterSet written = 0;
    std::uint32_t attributes = 0;
    std::uint8_t control = 0;  ///< a Control
    std::uint8_t immediate_bytes = 0;
    std::uint8_t reg_role = 0;
    std::uint8_t rm_role = 0;
    std::uint8_t vvvv_role = 0;
    /// Bit n is set if the field's high bits (R'R; X B of a register; V' and the top bit of vvvv) may have the value n.
    std::uint8_t reg_high = 0xf;
    std::uint8_t rm_high = 0xf;
    std::uint8_t vvvv_high = 0xf;
    std::uint8_t constraints = 0;
    std::uint8_t implied_bytes = 0;  ///< of implied memory
    std::uint8_t vector_roles = 0;   ///< see vector_role
    std::uint8_t timing = 0;         ///< number of its Timing (timing.h)

    auto operator<=>(const Form&) const = default;
};

}  // namespace anyperf::engine::x86_64

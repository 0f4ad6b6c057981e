// classes.h: the classes of instructions that the engine counts. One row is one class; the decoder's tables, the
// counters, `run --count` and the comparison with single-stepping (tests/engine) use the same rows. An instruction's
// form decides its classes, not its operands' values: a REP string instruction is one load and one store whatever rcx
// is, and a masked store is a store. The order of the rows is part of the memory layout of a run (run/tuple_counts.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/x86_64/decode/instruction.h"

namespace anyperf::engine::x86_64 {

enum class Class : std::uint8_t {
    instructions,
    branches,
    conditional,
    taken,
    calls,
    returns,
    indirect,
    far,
    loads,
    stores,
    floating_point,
    vector,
    syscalls,
    updates,
    scalar_double,
    scalar_single,
    packed_128_double,
    packed_128_single,
    packed_256_double,
    packed_256_single,
    packed_512_double,
    packed_512_single,
};

struct ClassRow {
    Class id;
    std::string_view name;         ///< as `run --count` takes and prints it
    std::string_view counts;       ///< what is counted
    std::string_view counts_like;  ///< Skylake's event with the same meaning; empty: none
    std::string_view note;         ///< how it differs from what one may expect
};

inline constexpr std::array kClasses{
    ClassRow{Class::instructions, "instructions", "every instruction that retires in user mode", "INST_RETIRED.ANY_P",
             "a REP string instruction is one"},
    ClassRow{Class::branches, "branches", "conditional, jumps, calls, returns, far", "BR_INST_RETIRED.ALL_BRANCHES",
             "syscall is not one"},
    ClassRow{Class::conditional, "conditional", "jcc, loop, jrcxz", "BR_INST_RETIRED.CONDITIONAL", "taken or not"},
    ClassRow{Class::taken, "taken", "taken near branches", "BR_INST_RETIRED.NEAR_TAKEN",
             "jumps, calls and returns always are"},
    ClassRow{Class::calls, "calls", "near calls, direct and indirect", "BR_INST_RETIRED.NEAR_CALL", ""},
    ClassRow{Class::returns, "returns", "near returns", "BR_INST_RETIRED.NEAR_RETURN", ""},
    ClassRow{Class::indirect, "indirect", "near jumps and calls through a register or memory", "", "excludes returns"},
    ClassRow{Class::far, "far", "far jumps, calls and returns, iret", "BR_INST_RETIRED.FAR_BRANCH",
             "that event also counts syscalls"},
    ClassRow{Class::loads, "loads", "reads memory, named or implied", "MEM_INST_RETIRED.ALL_LOADS",
             "ret and pop load; lea, a wide nop, prefetch don't; that event also counts prefetches"},
    ClassRow{Class::stores, "stores", "writes memory, named or implied", "MEM_INST_RETIRED.ALL_STORES",
             "call and push store"},
    ClassRow{Class::floating_point, "floating-point", "x87, and SSE/AVX arithmetic on floats", "",
             "excludes moves and logic of vector registers"},
    ClassRow{Class::vector, "vector", "names an mmx, xmm, ymm, zmm or mask register", "", ""},
    ClassRow{Class::syscalls, "syscalls", "syscall", "", ""},
    ClassRow{Class::updates, "updates", "reads memory and writes memory", "",
             "each is a load and a store, too; MEM_INST_RETIRED.ANY is loads + stores - updates"},
    ClassRow{
        Class::scalar_double, "scalar-double", "arithmetic on one double", "FP_ARITH_INST_RETIRED.SCALAR_DOUBLE",
        "like those below: add, subtract, multiply, divide, min, max, square root and reciprocals; fused multiply-add "
        "and dot products count twice"},
    ClassRow{Class::scalar_single, "scalar-single", "arithmetic on one float", "FP_ARITH_INST_RETIRED.SCALAR_SINGLE",
             ""},
    ClassRow{Class::packed_128_double, "packed-128-double", "… on 2 doubles",
             "FP_ARITH_INST_RETIRED.128B_PACKED_DOUBLE", "whatever the mask, like those below"},
    ClassRow{Class::packed_128_single, "packed-128-single", "… on 4 floats", "FP_ARITH_INST_RETIRED.128B_PACKED_SINGLE",
             ""},
    ClassRow{Class::packed_256_double, "packed-256-double", "… on 4 doubles",
             "FP_ARITH_INST_RETIRED.256B_PACKED_DOUBLE", ""},
    ClassRow{Class::packed_256_single, "packed-256-single", "… on 8 floats", "FP_ARITH_INST_RETIRED.256B_PACKED_SINGLE",
             ""},
    ClassRow{Class::packed_512_double, "packed-512-double", "… on 8 doubles",
             "FP_ARITH_INST_RETIRED.512B_PACKED_DOUBLE", ""},
    ClassRow{Class::packed_512_single, "packed-512-single", "… on 16 floats",
             "FP_ARITH_INST_RETIRED.512B_PACKED_SINGLE", ""},
};

inline constexpr std::size_t kClassCount = kClasses.size();

/// The set that holds only `id`.
constexpr ClassSet bit(Class id) {
    return ClassSet{1} << static_cast<unsigned>(id);
}

/// All classes. The decoder decides them, except `taken` of a conditional branch, which depends on the execution.
inline constexpr ClassSet kEveryClass = (1u << kClassCount) - 1;

/// The classes of floating-point arithmetic by width, in the order of the unit masks of FP_ARITH_INST_RETIRED. An
/// instruction is in at most one of them.
inline constexpr auto kFirstWidth = static_cast<std::size_t>(Class::scalar_double);
inline constexpr std::size_t kWidths = 8;
inline constexpr ClassSet kWidthClasses = ((ClassSet{1} << kWidths) - 1) << kFirstWidth;

/// In an instruction's set of classes: it computes two operations on each element, as multiply-add does, and adds 2 to
/// its class of kWidthClasses. To every other class it adds 1.
inline constexpr ClassSet kCountsTwice = ClassSet{1} << 31;

/// What an instruction of these classes adds to the count of a class, by its row.
constexpr unsigned amount_of(ClassSet classes, std::size_t row) {
    const unsigned one = classes >> row & 1u;
    return (classes & kCountsTwice) != 0 && (kWidthClasses >> row & 1u) != 0 ? 2 * one : one;
}

/// More counters are no classes. The first two are the cost of segments (translate/cost.h) in units of 1 / kCostUnits
/// cycle: the first counts up to kLongCost - 1 of them for a segment, the second those beyond, kLongCost at a time.
/// The models add to the first what waiting for data costs. The third is the part of the first two in which the core
/// does what it can, renaming as many micro-operations a cycle as it is wide. The fourth is beside these: what the
/// models find that waiting for instructions costs, after a misprediction or a fetch that missed.
inline constexpr std::size_t kCostRow = 22;
inline constexpr std::size_t kLongCostRow = 23;
inline constexpr std::size_t kBusyRow = 24;
inline constexpr std::size_t kFrontendRow = 25;
inline constexpr unsigned kLongCost = 128;
inline constexpr unsigned kCostUnits = 8;
inline constexpr ClassSet kCostRows = 1u << kCostRow | 1u << kLongCostRow | 1u << kBusyRow | 1u << kFrontendRow;
static_assert((kEveryClass & kCostRows) == 0 && (kEveryClass & kCountsTwice) == 0);

static_assert(
    [] {
        for (std::size_t i = 0; i < kClasses.size(); ++i)
            if (static_cast<std::size_t>(kClasses[i].id) != i) return false;
        return true;
    }(),
    "rows must be in the order of the enum");

}  // namespace anyperf::engine::x86_64

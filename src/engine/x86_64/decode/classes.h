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
};

inline constexpr std::size_t kClassCount = kClasses.size();

/// The set that holds only `id`.
constexpr ClassSet bit(Class id) {
    return static_cast<ClassSet>(1u << static_cast<unsigned>(id));
}

/// All classes. The decoder decides them, except `taken` of a conditional branch, which depends on the execution.
inline constexpr ClassSet kEveryClass = (1u << kClassCount) - 1;

/// Two more counters are no classes: the cost of segments (translate/cost.h) in units of 1 / kCostUnits cycle. The
/// first counts up to kLongCost - 1 of them for a segment, the second those beyond, kLongCost at a time.
inline constexpr std::size_t kCostRow = 14;
inline constexpr std::size_t kLongCostRow = 15;
inline constexpr unsigned kLongCost = 128;
inline constexpr unsigned kCostUnits = 8;
inline constexpr ClassSet kCostRows = 1u << kCostRow | 1u << kLongCostRow;
static_assert((kEveryClass & kCostRows) == 0);

static_assert(
    [] {
        for (std::size_t i = 0; i < kClasses.size(); ++i)
            if (static_cast<std::size_t>(kClasses[i].id) != i) return false;
        return true;
    }(),
    "rows must be in the order of the enum");

}  // namespace anyperf::engine::x86_64

// classes.h: what each counter counts. A class is a row; the decoder's tables, the counters, `run --count`, the docs
// and the comparison with single-stepping read it. Classes go by the form of an instruction: a REP string instruction
// is one load and one store whatever rcx says, a masked store is a store.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/x86_64/instruction.h"

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
};

struct ClassRow {
    Class id;
    std::string_view name;
    std::string_view counts;
    std::string_view counts_like;  ///< the event of Skylake with the same meaning, where there is one
    std::string_view note;
};

inline constexpr std::array kClasses{
    ClassRow{Class::instructions, "instructions", "every instruction that retires in user mode", "INST_RETIRED.ANY_P",
             "a REP string instruction is one"},
    ClassRow{Class::branches, "branches", "conditional, jumps, calls, returns, far", "BR_INST_RETIRED.ALL_BRANCHES",
             "syscall is not one"},
    ClassRow{Class::conditional, "conditional", "jcc, loop, jrcxz", "BR_INST_RETIRED.CONDITIONAL", "taken or not"},
    ClassRow{Class::taken, "taken", "near branches that went elsewhere", "BR_INST_RETIRED.NEAR_TAKEN",
             "jumps, calls and returns always do"},
    ClassRow{Class::calls, "calls", "near calls, direct and indirect", "BR_INST_RETIRED.NEAR_CALL", ""},
    ClassRow{Class::returns, "returns", "near returns", "BR_INST_RETIRED.NEAR_RETURN", ""},
    ClassRow{Class::indirect, "indirect", "near jumps and calls through a register or memory", "",
             "returns are not in it"},
    ClassRow{Class::far, "far", "far jumps, calls and returns, iret", "BR_INST_RETIRED.FAR_BRANCH",
             "which also counts syscalls"},
    ClassRow{Class::loads, "loads", "reads memory, named or implied", "MEM_INST_RETIRED.ALL_LOADS",
             "ret and pop load; lea, a wide nop, prefetch don't"},
    ClassRow{Class::stores, "stores", "writes memory, named or implied", "MEM_INST_RETIRED.ALL_STORES",
             "call and push store"},
    ClassRow{Class::floating_point, "floating-point", "x87, and SSE/AVX arithmetic on floats", "",
             "moves and logic of vector registers are not in it"},
    ClassRow{Class::vector, "vector", "names an mmx, xmm, ymm, zmm or mask register", "", ""},
    ClassRow{Class::syscalls, "syscalls", "syscall", "", ""},
};

inline constexpr std::size_t kClassCount = kClasses.size();

constexpr ClassSet bit(Class id) {
    return static_cast<ClassSet>(1u << static_cast<unsigned>(id));
}

/// Decided by the form alone; only `taken` of a conditional branch needs the run.
inline constexpr ClassSet kEveryClass = (1u << kClassCount) - 1;

static_assert(
    [] {
        for (std::size_t i = 0; i < kClasses.size(); ++i)
            if (static_cast<std::size_t>(kClasses[i].id) != i) return false;
        return true;
    }(),
    "rows stand in the order of the enum");

}  // namespace anyperf::engine::x86_64

// expression.h: DWARF expressions as call frame information has them: in stubs of the PLT, in functions that align
// their stack, and in the frames of signals.
//
// An expression is a program for a stack machine (DWARF 5, 2.5). It has branches, calls and memory accesses, and a file
// of a stranger could make it run for ever. Here it has neither branches nor calls, so it takes at most one step a
// byte; and its memory is the copied stack only. Compilers need no more for frames. An operation that is not known
// gives no value, and the stack ends at that frame.
#pragma once

#include <cstdint>
#include <optional>

#include "symbols/elf_image.h"

namespace anyperf::unwind {

/// The registers that unwinding follows.
struct Registers {
    std::uint64_t rip = 0, rsp = 0, rbp = 0;
};

/// The valid bytes of a stack, from the stack pointer of the sample upwards.
struct StackCopy {
    std::uint64_t address = 0;
    symbols::Bytes bytes;

    std::optional<std::uint64_t> word(std::uint64_t at) const;
};

/// The value of an expression; `first` is on its stack at the start. None if it uses something else than these
/// registers and this stack, or is damaged.
std::optional<std::uint64_t> evaluate(symbols::Bytes expression, const Registers& registers, const StackCopy& stack,
                                      std::optional<std::uint64_t> first = {});

}  // namespace anyperf::unwind

// start_stack.h: the words that a program finds on its stack: argument count, arguments, environment, auxiliary vector
// (System V ABI for x86-64, 3.4.1). The strings that they point to stay where the kernel has put them for the engine.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>

#include "engine/load/image.h"

namespace anyperf::engine {

/// A process's initial stack as the kernel has laid it.
struct StartStack {
    std::uint64_t* words = nullptr;  ///< argc
    std::uint64_t argument_count = 0;
    char** arguments = nullptr;
    char** environment = nullptr;
    Elf64_auxv_t* auxiliary = nullptr;
    std::size_t auxiliary_count = 0;  ///< AT_NULL included

    /// Reads what stands at the stack pointer of a process's first instruction.
    static StartStack at(std::uint64_t* words);

    /// Value of an entry; `otherwise` where there is none.
    std::uint64_t auxiliary_value(std::uint64_t type, std::uint64_t otherwise) const;
};

/// What the program is to be told instead of what the engine was told.
struct StartFacts {
    const char* path;  ///< AT_EXECFN
    const Image* program;
    const ElfFile* file;
    std::uint64_t loader_base;  ///< AT_BASE; 0: none
    std::uint64_t dropped;      ///< arguments in front that were the engine's own
    bool fixed_random;          ///< AT_RANDOM's bytes are always the same
};

/// Rewrites the stack in place for the program: without the first `dropped` arguments, with its own auxiliary vector.
/// Returns the program's stack pointer, aligned to 16. Only the words move, towards higher addresses.
std::uint64_t* rewrite_start_stack(const StartStack& stack, const StartFacts& facts);

}  // namespace anyperf::engine

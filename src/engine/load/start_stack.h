// start_stack.h: the initial stack of a program: argument count, arguments, environment, auxiliary vector (System V ABI
// for x86-64, 3.4.1). The kernel has made it for the engine. The engine rewrites it for the program, with everything at
// the address that the kernel would have chosen for the program.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <expected>

#include "engine/load/image.h"
#include "engine/random_stream.h"
#include "run/facts.h"

namespace anyperf::engine {

/// A process's initial stack as the kernel laid it out.
struct StartStack {
    std::uint64_t* words = nullptr;  ///< its lowest word, argc
    std::uint64_t argument_count = 0;
    char** arguments = nullptr;
    char** environment = nullptr;
    Elf64_auxv_t* auxiliary = nullptr;
    std::size_t auxiliary_count = 0;  ///< AT_NULL included

    /// Reads the stack; `words` is the stack pointer at the process's first instruction.
    static StartStack at(std::uint64_t* words);

    /// The value of an entry of the auxiliary vector; `otherwise` if it has no such entry.
    std::uint64_t auxiliary_value(std::uint64_t type, std::uint64_t otherwise) const;
};

/// The differences between the engine's stack and the program's.
struct StartFacts {
    const char* path;  ///< AT_EXECFN
    const Image* program;
    const ElfFile* file;
    std::uint64_t loader_base;  ///< AT_BASE; 0: no loader
    std::uint64_t dropped;      ///< arguments at the front that are the engine's own
    /// In a deterministic run, the source of AT_RANDOM's bytes; the program gets no vDSO then. Null: both are the
    /// kernel's.
    RandomStream* random;
    const run::RunHeader* run;  ///< null: the engine was started without a run
};

/// Rewrites the stack in place for the program: without the first `dropped` arguments, with its own auxiliary vector.
/// Returns the program's stack pointer, aligned to 16 bytes. This overwrites what `stack` points to, and strings of
/// `facts` that are on the stack. Error: a positive errno; the stack is unchanged.
std::expected<std::uint64_t*, long> rewrite_start_stack(const StartStack& stack, const StartFacts& facts);

}  // namespace anyperf::engine

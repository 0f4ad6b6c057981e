// exec_memory.h: the working memory of an exec, 8 MiB of addresses: too large for the engine's stack. The process keeps
// one for the next exec. A shell that searches PATH makes some ten that fail, and each mapping that is used and
// unmapped costs a flush of the TLBs of all CPUs on which the process has run.
#pragma once

#include <cstddef>

#include "engine/engine.h"
#include "engine/load/program_file.h"
#include "engine/load/start_argument.h"

namespace anyperf::engine {

/// In memory that take_exec_memory() gives out: only the members with a value here begin with one.
struct ExecMemory {
    /// Pointers: more than the kernel's limit on the bytes of strings allows.
    static constexpr std::size_t kArgumentsRoom = std::size_t{1} << 20;

    ProgramFile file;
    std::size_t count = 0;  ///< of `arguments`
    char path[4096];
    char start[kStartArgumentRoom];
    const char* arguments[kArgumentsRoom];

    /// False if the vector is full.
    bool add(const char* argument) {
        if (count == kArgumentsRoom - 1) return false;
        arguments[count++] = argument;
        arguments[count] = nullptr;
        return true;
    }
};

/// Null if memory ran out. An exec that succeeds from a vfork's child leaves it in the parent's memory: the child notes
/// it in Thread::exec_memory, and free_thread() gives it back.
ExecMemory* take_exec_memory(Engine& engine);

/// Precondition: `memory->file` is closed. Threads may call both at the same time.
void give_back_exec_memory(Engine& engine, ExecMemory* memory);

}  // namespace anyperf::engine

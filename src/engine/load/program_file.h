// program_file.h: from a path to what has to be mapped: scripts followed to their interpreter, permissions checked, the
// ELF headers read. Done before execve as well, because after it there is nobody left to return an error to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>

#include "engine/load/image.h"
#include "engine/load/script.h"

namespace anyperf::engine {

/// A program ready to be mapped. Big: lives in pages of its own, not on a stack.
struct ProgramFile {
    ElfFile program;
    ElfFile loader;   ///< the ELF interpreter; fd -1: none
    int scripts = 0;  ///< lines followed
    ScriptLine lines[kDeepestScript];

    /// Closes what find_program opened.
    void close();
};

/// Why a program can't be run: an errno as execve(2) would give, and, where the engine refuses what the kernel would
/// run, the reason.
struct ProgramError {
    long error;
    const char* reason;  ///< null: errno says it all
};

/// Finds what execveat(at, path, flags) would run. Opens files, so call `close` on the result, also after an error.
std::expected<void, ProgramError> find_program(int at, const char* path, int flags, ProgramFile& out);

/// The same for a file that is open already; `fd` is closed with the result.
std::expected<void, ProgramError> find_opened_program(int fd, ProgramFile& out);

}  // namespace anyperf::engine

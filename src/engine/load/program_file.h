// program_file.h: finds the files to map for a path: follows scripts to their interpreter, checks permissions, reads
// the ELF headers. The engine does this before an execve as well: after it, no program is left to which an error could
// be returned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>

#include "engine/load/image.h"
#include "engine/load/script.h"

namespace anyperf::engine {

/// A program ready to be mapped. Too big for the engine's stack: it is allocated in pages.
struct ProgramFile {
    ElfFile program;
    ElfFile loader;   ///< the ELF interpreter; its fd is -1 if the program has none
    int scripts = 0;  ///< how many scripts were followed
    ScriptLine lines[kDeepestScript];

    /// Closes the files that find_program() or resolve_program() has left open.
    void close();
};

/// Why a program can't be run.
struct ProgramError {
    long error;          ///< a positive errno, as of execve(2)
    const char* reason;  ///< why the engine refuses what the kernel would run; null: the errno is the reason
};

/// Finds what execveat(at, path, flags) would run. The result has open files: call `close` on it, also after an error.
std::expected<void, ProgramError> find_program(int at, const char* path, int flags, ProgramFile& out);

/// The same for an open file. Takes ownership of `fd`: it is closed, or in the result. `checked`: the process has done
/// it before its exec, so it may execute the program's loader.
std::expected<void, ProgramError> resolve_program(int fd, bool checked, ProgramFile& out);

}  // namespace anyperf::engine

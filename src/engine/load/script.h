// script.h: the first line of "#!" files, parsed as the kernel does (fs/binfmt_script.c; execve(2), "Interpreter
// scripts").
#pragma once

#include <cstddef>
#include <expected>

namespace anyperf::engine {

inline constexpr std::size_t kScriptLineBytes = 256;  ///< how much of a file the kernel reads: BINPRM_BUF_SIZE
inline constexpr int kDeepestScript = 5;              ///< longest chain of scripts; a sixth gives ELOOP

/// The first line of a script.
struct ScriptLine {
    char interpreter[kScriptLineBytes];
    char argument[kScriptLineBytes];
    bool has_argument = false;  ///< an argument may be empty: "#!/bin/sh " without a newline has one
};

/// Parses the first bytes of a file. False if it is not a script. The error is ENOEXEC if the line names no
/// interpreter, or if the name does not end within kScriptLineBytes; EACCES if a NUL takes the place of the name.
std::expected<bool, long> parse_script(const char* bytes, std::size_t count, ScriptLine& out);

}  // namespace anyperf::engine

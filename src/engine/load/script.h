// script.h: "#!" files, as the kernel reads them (fs/binfmt_script.c; execve(2), "Interpreter scripts").
#pragma once

#include <cstddef>
#include <expected>

namespace anyperf::engine {

inline constexpr std::size_t kScriptLine = 256;  ///< BINPRM_BUF_SIZE: what the kernel looks at
inline constexpr int kDeepestScript = 5;         ///< interpreters that are scripts themselves; then ELOOP

/// The first line of a script.
struct ScriptLine {
    char interpreter[kScriptLine];
    char argument[kScriptLine];  ///< empty: none

    bool has_argument() const { return argument[0] != 0; }
};

/// Parses the first bytes of a file. False where it is no script; ENOEXEC where its line names no interpreter or does
/// not end within what the kernel reads.
std::expected<bool, long> parse_script(const char* bytes, std::size_t count, ScriptLine& out);

}  // namespace anyperf::engine

// fail.h: ends a process in which the engine can't go on: reports what failed and where, and exits with 125. The engine
// never continues with a wrong count and never hangs.
#pragma once

#include <cstdint>
#include <string_view>

namespace anyperf::engine {

inline constexpr int kOwnFailure = 125;  ///< exit status

/// Refuses to start a program: prints "anyperf: WHAT: PATH", the cause and the fix (each may be empty), and exits with
/// `status`: 125 for the engine's own failures, 126 and 127 as a shell uses them.
[[noreturn]] void refuse(int status, std::string_view what, std::string_view path, std::string_view cause,
                         std::string_view fix);

/// A defect of the engine itself at an address of the application: prints it with the file that the address is mapped
/// from and the instruction's bytes, as far as they can be read. Also callable in the signal handler.
[[noreturn]] void fail(std::string_view what, std::uint64_t pc);

/// The text of a positive errno. libc's strerror can't be used: it allocates.
std::string_view error_text(long error);

}  // namespace anyperf::engine

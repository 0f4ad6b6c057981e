// fail.h: how the engine ends when it can't go on: by saying what happened and where, with 125. Never a wrong count,
// never a hang.
#pragma once

#include <cstdint>
#include <string_view>

namespace anyperf::engine {

inline constexpr int kOwnFailure = 125;

/// Before the program runs: "anyperf: WHAT: PATH", the cause, the fix; ends the process with `status` (125, 126 or
/// 127).
[[noreturn]] void refuse(int status, std::string_view what, std::string_view path, std::string_view cause,
                         std::string_view fix);

/// A mistake of the engine itself, at an application address: prints it with the module that the address is in and the
/// instruction's bytes, as far as they can be read.
[[noreturn]] void fail(std::string_view what, std::uint64_t pc);

/// What errno means, without libc's strerror, which allocates. `error` is positive.
std::string_view error_text(long error);

}  // namespace anyperf::engine

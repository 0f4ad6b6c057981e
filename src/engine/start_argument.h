// start_argument.h: what crosses an execve to the engine that comes after it: numbers in one argument.
#pragma once

#include <cstdint>

namespace anyperf::engine {

struct StartArgument {
    int run_fd = -1;            ///< descriptor of the run's memory; -1: none
    std::uint32_t process = 0;  ///< this process's record in it; 0: a new one
    int program_fd = -1;        ///< the program, opened before the exec; -1: to be found by its path
    int broker_fd = -1;         ///< where requests go; -1: nobody listens
    std::int64_t page = -1;     ///< the thread's page in the run's memory, kept over the exec; -1: a new one
    std::uint64_t blocked = 0;  ///< of the engine's own signals, those that the program thinks are blocked
};

/// Room for the longest text, NUL included.
inline constexpr std::uint64_t kStartArgumentRoom = 96;

/// "RUN_FD,PROCESS,PROGRAM_FD,BROKER_FD,PAGE,BLOCKED". False where the text is something else.
bool parse_start_argument(const char* text, StartArgument& out);

/// Writes the text into `out`, which has kStartArgumentRoom bytes.
void format_start_argument(const StartArgument& argument, char* out);

}  // namespace anyperf::engine

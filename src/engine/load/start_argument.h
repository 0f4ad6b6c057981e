// start_argument.h: the state that one engine passes to the next over execve: numbers in one argument of the command
// line.
#pragma once

#include <cstdint>

namespace anyperf::engine {

struct StartArgument {
    int facts_fd = -1;             ///< descriptor of the facts (run/facts.h); -1: none
    int run_fd = -1;               ///< descriptor of the run memory; -1: none
    std::uint32_t process = 0;     ///< the process's record; 0: a new one
    int program_fd = -1;           ///< the program, opened before the exec; -1: find it by its path
    int broker_fd = -1;            ///< the socket for requests; -1: no broker
    int engine_fd = -1;            ///< the engine's executable; -1: none
    std::int64_t page = -1;        ///< the number of the thread's page, kept over the exec; -1: a new one
    std::uint64_t blocked = 0;     ///< kEngineSignals that the program has blocked: the kernel's mask never has them
    std::uint64_t shown = 0;       ///< kEngineSignals that descriptors of signalfd(2) may show
    bool knows_ignored = false;    ///< `ignored` is known; otherwise the kernel has to be asked
    std::uint64_t ignored = 0;     ///< signals that the program ignores; in the text two numbers, the low half first
    bool user_may_differ = false;  ///< the process may have another user than its run memory
    std::uint32_t random = 0;  ///< 31 bits of the last program's random bytes, in a deterministic run; 0: the first one
};

/// Room for the longest text, NUL included.
inline constexpr std::uint64_t kStartArgumentRoom = 176;

/// Parses
/// "FACTS_FD,RUN_FD,PROCESS,PROGRAM_FD,BROKER_FD,ENGINE_FD,PAGE,BLOCKED,SHOWN,KNOWS_IGNORED,IGNORED,IGNORED_HIGH,
/// USER_MAY_DIFFER,RANDOM", without blanks.
/// False if the text is anything else.
bool parse_start_argument(const char* text, StartArgument& out);

/// Writes the text into `out`, which has kStartArgumentRoom bytes.
void format_start_argument(const StartArgument& argument, char* out);

}  // namespace anyperf::engine

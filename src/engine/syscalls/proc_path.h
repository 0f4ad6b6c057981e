// proc_path.h: paths below /proc/PID. Handlers recognise them by their text, because the kernel's answer would be
// about the engine.
// Limit: only absolute paths are recognised, not "exe" in the directory /proc/self, nor symbolic links to these files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace anyperf::engine {

/// Room for a path with its NUL. A longer path cannot be one of those that matter.
inline constexpr std::size_t kLongestProcPath = 64;

/// Copies the application's string at `from` into `room`. Empty if it is not readable or has no NUL in that room.
std::string_view copy_short_path(std::uint64_t from, char (&room)[kLongestProcPath]);
/// The same with a room of `bytes`.
std::string_view copy_path(std::uint64_t from, char* room, std::size_t bytes);

/// A decimal number; 0 if `text` is anything else. Values near the end of the range count as anything else.
std::int32_t decimal_number(std::string_view text);

/// "/proc/PID/REST", "/proc/self/REST", "/proc/thread-self/REST", also with "task/TID/" before REST.
struct ProcPath {
    std::int32_t pid = 0;   ///< 0: the path has another form
    std::string_view rest;  ///< "exe", "maps", "fd/3"; it points into the path
};

/// Takes a path apart. "self" and "thread-self" become the process's own id.
ProcPath parse_proc_path(std::string_view path);

}  // namespace anyperf::engine

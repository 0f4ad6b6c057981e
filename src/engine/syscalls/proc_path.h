// proc_path.h: names below /proc of what the engine would show through: which process they are of, and what is meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace anyperf::engine {

/// A path is looked at only as far as the names that matter are long.
inline constexpr std::size_t kLongestProcPath = 64;

/// The application's string, if it is readable and shorter than `room`; else empty.
std::string_view short_path(std::uint64_t from, char (&room)[kLongestProcPath]);

/// "/proc/PID/REST", "/proc/self/REST", "/proc/thread-self/REST", and with "task/TID/" before REST.
struct ProcPath {
    std::int32_t pid = 0;   ///< 0: the path is no such
    std::string_view rest;  ///< "exe", "maps", "fd/3"
};

ProcPath proc_path(std::string_view path);

}  // namespace anyperf::engine

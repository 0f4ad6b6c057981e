// cache_directory.h: where anyperf keeps what takes long to make again: the kernel's names, functions of DWARF,
// translations. Any of it may be removed at any time.
#pragma once

#include <cstdlib>
#include <string>

namespace anyperf {

/// $XDG_CACHE_HOME/anyperf, or ~/.cache/anyperf; empty if neither variable is an absolute path (XDG Base Directory
/// Specification).
inline std::string cache_directory() {
    const char* const cache = std::getenv("XDG_CACHE_HOME");
    if (cache != nullptr && *cache == '/') return std::string{cache} + "/anyperf";
    const char* const home = std::getenv("HOME");
    return home != nullptr && *home == '/' ? std::string{home} + "/.cache/anyperf" : std::string{};
}

}  // namespace anyperf

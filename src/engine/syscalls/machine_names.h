// machine_names.h: the names of the machine and its kernel in a deterministic run: uname(2), and files in /proc. The
// host's name is one that every machine can resolve.
#pragma once

#include <string_view>

#include "engine/engine.h"

namespace anyperf::engine {

inline constexpr std::string_view kShownHost = "localhost";
inline constexpr std::string_view kShownRelease = "6.1.0";
inline constexpr std::string_view kShownVersion = "#1 SMP PREEMPT_DYNAMIC";

/// Whether programs see these names: not after one of them has set the machine's name.
bool shows_names(const Engine& engine);

}  // namespace anyperf::engine

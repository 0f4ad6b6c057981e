// verbs.h: the list of verbs.
#pragma once

#include <span>

#include "cli/verb.h"

namespace anyperf::cli {

/// In the order of `anyperf --help`.
std::span<const Verb* const> verbs();

}  // namespace anyperf::cli

// verbs.h: the list of all verbs, hidden ones included. `main`, the completion script and the man page test get the
// verbs and their options from here, so a new verb appears in all of them.
#pragma once

#include <span>

#include "cli/verb.h"

namespace anyperf::cli {

/// In the order of `anyperf --help`. They live as long as the process.
std::span<const Verb* const> verbs();

}  // namespace anyperf::cli

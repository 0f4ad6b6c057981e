// cache.h: the verb `anyperf cache`. It shows the translations that runs have kept for later runs, and removes them.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kCache;

}  // namespace anyperf::cli

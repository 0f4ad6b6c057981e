// diff.h: the verb `anyperf diff`. It compares perf.data files.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kDiff;

}  // namespace anyperf::cli

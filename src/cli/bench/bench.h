// bench.h: the verb `bench`.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kBench;

}  // namespace anyperf::cli

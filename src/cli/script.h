// script.h: the verb `anyperf script`. It prints the samples of a perf.data file one by one.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kScript;

}  // namespace anyperf::cli

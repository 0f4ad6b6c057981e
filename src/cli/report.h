// report.h: the verb `anyperf report`. It shows where the samples of a perf.data file are.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kReport;

}  // namespace anyperf::cli

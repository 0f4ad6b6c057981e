// run.h: `anyperf run`.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kRun;

}  // namespace anyperf::cli

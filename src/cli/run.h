// run.h: the verb `anyperf run -- COMMAND`. It runs a command in the engine, with a virtual PMU.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kRun;

}  // namespace anyperf::cli

// stat.h: the verb `anyperf stat`, which counts events of a command, of processes, or of the machine.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kStat;

}  // namespace anyperf::cli

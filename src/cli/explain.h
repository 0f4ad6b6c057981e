// explain.h: the verb `anyperf explain`. It shows why performance events do or don't work on this machine.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kExplain;

}  // namespace anyperf::cli

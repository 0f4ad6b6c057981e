// stat.h: `anyperf stat`.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kStat;

}  // namespace anyperf::cli

// explain.h: `anyperf explain`.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kExplain;

}  // namespace anyperf::cli

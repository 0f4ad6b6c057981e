// list.h: `anyperf list`.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kList;

}  // namespace anyperf::cli

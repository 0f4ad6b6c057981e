// encode.h: `anyperf encode EVENT…`
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kEncode;

}  // namespace anyperf::cli

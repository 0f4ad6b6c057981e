// completion.h: `anyperf completion`.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kCompletion;

}  // namespace anyperf::cli

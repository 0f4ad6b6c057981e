// top.h: the verb `top`.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kTop;

}  // namespace anyperf::cli

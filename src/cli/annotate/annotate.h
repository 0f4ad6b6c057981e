// annotate.h: the verb `anyperf annotate`. It shows the code of functions with samples.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kAnnotate;

}  // namespace anyperf::cli

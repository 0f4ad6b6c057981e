// list.h: the verb `anyperf list [PATTERN…]`. It lists the events that can be named here, and what each needs.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kList;

}  // namespace anyperf::cli

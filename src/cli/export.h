// export.h: the verb `anyperf export`. It writes the samples of a perf.data file in a format of another program.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kExport;

}  // namespace anyperf::cli

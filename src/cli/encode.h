// encode.h: the verb `anyperf encode EVENT…`. It shows the perf_event_attr of an event string and opens nothing.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kEncode;

}  // namespace anyperf::cli

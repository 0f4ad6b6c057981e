// record.h: the verb `record`.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kRecord;

}  // namespace anyperf::cli

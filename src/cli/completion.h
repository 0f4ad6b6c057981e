// completion.h: the hidden verb `anyperf completion SHELL`. It prints the completion scripts that the package installs,
// and the names that these scripts ask for.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kCompletion;

}  // namespace anyperf::cli

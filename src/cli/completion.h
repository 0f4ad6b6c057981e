// completion.h: the hidden verb `anyperf completion bash`. It prints the completion script that the package installs.
#pragma once

#include "cli/verb.h"

namespace anyperf::cli {

extern const Verb kCompletion;

}  // namespace anyperf::cli

// modifier_words.h: refusals in the words of `stat -e`. host names fields of perf_event_attr, since programs set those;
// users of stat type modifiers.
#pragma once

#include "anyperf/error.h"

namespace anyperf::cli::stat {

/// Replaces fields that only a modifier sets: "attr exclude_kernel" by "the modifier u".
Error in_words_of_modifiers(Error refusal);

}  // namespace anyperf::cli::stat

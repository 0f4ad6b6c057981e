// modifier_words.h: refusals in the words of `stat -e`. The causes of host name fields of perf_event_attr, because
// programs set those. Users of stat type modifiers instead.
#pragma once

#include "anyperf/error.h"

namespace anyperf::cli::stat {

/// Replaces the fields that modifiers set: "attr exclude_kernel" becomes "the modifier u".
Error in_words_of_modifiers(Error refusal);

}  // namespace anyperf::cli::stat

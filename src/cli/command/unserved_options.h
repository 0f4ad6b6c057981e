// unserved_options.h: the options of perf's verbs that anyperf's do not have, each with the reason. Who types one gets
// the reason instead of "unknown option". A test compares the table with perf's help.
#pragma once

#include <optional>
#include <string_view>

#include "anyperf/error.h"

namespace anyperf::cli {

/// The error for an option of `perf VERB`; nothing if perf has no such option, or none that the table knows. `name`
/// has its dashes, and no value.
std::optional<Error> why_unserved(std::string_view verb, std::string_view name);

}  // namespace anyperf::cli

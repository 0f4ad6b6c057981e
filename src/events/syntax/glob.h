// glob.h: shell patterns: * ? [a-z] [!a-z]. Not fnmatch(3), whose time grows exponentially with the number of
// stars.
#pragma once

#include <string_view>

namespace anyperf::events {

/// Whether `text` has a character that is special in a pattern.
bool is_glob(std::string_view text);

/// Whether `pattern` matches all of `name`. Takes at most |pattern| × |name| steps. A '[' that is never closed is an
/// ordinary character.
bool glob_matches(std::string_view pattern, std::string_view name);

}  // namespace anyperf::events

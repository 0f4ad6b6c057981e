// glob.h: shell patterns: * ? [a-z] [!a-z]. Not fnmatch(3), whose time grows without bound with the number of stars.
#pragma once

#include <string_view>

namespace anyperf::events {

bool is_glob(std::string_view text);

/// `pattern` is all of `name`. Time at most |pattern| × |name|. A '[' that is never closed is an ordinary letter.
bool glob_matches(std::string_view pattern, std::string_view name);

}  // namespace anyperf::events

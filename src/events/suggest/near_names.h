// near_names.h: similar names for "did you mean" suggestions.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace anyperf::events {

/// At most four of `known` that are similar to `typed`, without regard to case: an edit distance (a swap of neighbours
/// is one step) of at most a third of the length, or names that begin with `typed`. Nearest first, each once. Empty if
/// `typed` has more than 64 characters.
std::vector<std::string> near_names(std::string_view typed, std::span<const std::string> known);

/// "did you mean 'a', 'b' or 'c'?"; empty if no name is similar.
std::string did_you_mean(std::string_view typed, std::span<const std::string> known);

}  // namespace anyperf::events

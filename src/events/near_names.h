// near_names.h: what somebody may have meant.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace anyperf::events {

/// The few of `known` that are nearest to `typed` without regard to case: edit distance (a swap of neighbours is one
/// step) of at most a third of its length, or names that begin with it. Nearest first, each once.
std::vector<std::string> near_names(std::string_view typed, std::span<const std::string> known);

/// "did you mean 'a', 'b' or 'c'?"; empty where nothing is near.
std::string did_you_mean(std::string_view typed, std::span<const std::string> known);

}  // namespace anyperf::events

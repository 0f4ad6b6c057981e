// verbs.cpp: the list of verbs, written out.
#include "cli/verbs.h"

#include <array>

namespace anyperf::cli {

namespace {

constexpr std::array<const Verb*, 0> kVerbs{};

}  // namespace

std::span<const Verb* const> verbs() {
    return kVerbs;
}

}  // namespace anyperf::cli

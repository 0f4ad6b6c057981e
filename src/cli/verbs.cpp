// verbs.cpp: the list of verbs, written out.
#include "cli/verbs.h"

#include <array>

#include "cli/completion.h"
#include "cli/encode.h"
#include "cli/explain.h"
#include "cli/list.h"
#include "cli/run.h"
#include "cli/stat.h"

namespace anyperf::cli {

namespace {

constexpr std::array kVerbs{
    &kList, &kStat, &kRun, &kEncode, &kExplain, &kCompletion,
};

}  // namespace

std::span<const Verb* const> verbs() {
    return kVerbs;
}

}  // namespace anyperf::cli

// verbs.cpp: the list of verbs. A new verb is a file with a constinit Verb, and a line here.
#include "cli/verbs.h"

#include <array>

#include "cli/annotate/annotate.h"
#include "cli/bench/bench.h"
#include "cli/cache/cache.h"
#include "cli/completion.h"
#include "cli/diff/diff.h"
#include "cli/encode.h"
#include "cli/explain.h"
#include "cli/export.h"
#include "cli/list.h"
#include "cli/record.h"
#include "cli/report.h"
#include "cli/run.h"
#include "cli/script.h"
#include "cli/stat.h"
#include "cli/top/top.h"

namespace anyperf::cli {

namespace {

constexpr std::array kVerbs{
    &kList,     &kStat, &kBench,  &kRun,    &kRecord,  &kTop,   &kReport,     &kScript,
    &kAnnotate, &kDiff, &kExport, &kEncode, &kExplain, &kCache, &kCompletion,
};

}  // namespace

std::span<const Verb* const> verbs() {
    return kVerbs;
}

}  // namespace anyperf::cli

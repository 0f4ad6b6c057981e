// whole_match.h: the patterns of perf's lists: POSIX extended regular expressions, for CPUs (mapfile.csv) and for
// identifiers of PMUs (Compat).
#pragma once

#include <string>

namespace anyperf::vendor {

/// Whether the pattern matches all of `text`, as perf compares (strcmp_cpuid_str(), pmu_uncore_identifier_match()).
bool matches_whole(const char* pattern, const std::string& text);

}  // namespace anyperf::vendor

// default_events.cpp: see default_events.h. The choice and the order are those of `perf stat` (perf-stat(1), -d).
#include "cli/stat/default_events.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace anyperf::cli::stat {

namespace {

struct Set {
    int detail;
    std::string_view events;
};

constexpr std::array kSets{
    Set{0, "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses"},
    Set{1, "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses"},
    Set{2, "L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses"},
    Set{3, "L1-dcache-prefetches,L1-dcache-prefetch-misses"},
};

std::string sets_between(int least, int most) {
    std::string events;
    for (const auto& set : kSets) {
        if (set.detail < least || set.detail > most) continue;
        if (!events.empty()) events += ',';
        events += set.events;
    }
    return events;
}

}  // namespace

std::string default_events(int detail) {
    return sets_between(0, detail);
}

std::string detail_events(int detail) {
    return sets_between(1, detail);
}

}  // namespace anyperf::cli::stat

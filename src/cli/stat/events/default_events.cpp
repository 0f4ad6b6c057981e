// default_events.cpp: the sets of events. `perf stat` has the same events in the same order (perf-stat(1), -d).
#include "cli/stat/events/default_events.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace anyperf::cli::stat {

namespace {

/// Events that are counted if -d was given `detail` times or more.
struct EventSet {
    int detail;
    std::string_view events;
};

constexpr std::array kSets{
    EventSet{0, "task-clock,context-switches,cpu-migrations,page-faults,cycles,instructions,branches,branch-misses"},
    EventSet{1, "L1-dcache-loads,L1-dcache-load-misses,LLC-loads,LLC-load-misses"},
    EventSet{2, "L1-icache-loads,L1-icache-load-misses,dTLB-loads,dTLB-load-misses,iTLB-loads,iTLB-load-misses"},
    EventSet{3, "L1-dcache-prefetches,L1-dcache-prefetch-misses"},
};

/// The default event that the virtual PMU would have to model. A program then often takes more than ten times as long
/// (docs/models.md), so the virtual PMU counts this event only if the user asks for it.
constexpr std::string_view kModelledDefault = ",branch-misses";

/// The sets from `least` to `most` as one event string.
std::string sets_between(int least, int most) {
    std::string events;
    for (const auto& set : kSets) {
        if (set.detail < least || set.detail > most) continue;
        if (!events.empty()) events += ',';
        events += set.events;
    }
    return events;
}

// If the CPU has the events of --topdown, the kernel lists them in sysfs (arch/x86/events/intel/core.c,
// icl_td_events_attrs and its predecessors). `slots` must lead the group, or the kernel refuses the others.
constexpr std::array<std::string_view, 2> kTopdownPmus{"cpu",
                                                       "cpu_core"};  // cpu_core: the performance cores of a hybrid CPU

std::string event_file(std::string_view pmu, std::string_view event) {
    return "/sys/bus/event_source/devices/" + std::string{pmu} + "/events/" + std::string{event};
}

/// The slots, and the four events that divide them up.
constexpr std::array<std::string_view, 5> kTopdownEvents{"slots", "topdown-retiring", "topdown-bad-spec",
                                                         "topdown-fe-bound", "topdown-be-bound"};

/// kTopdownEvents as a group of this PMU. Each event has the PMU's name, because the efficiency cores of a hybrid CPU
/// have events with the same names and another meaning.
std::string topdown_group(std::string_view pmu) {
    std::string text;
    for (const auto event : kTopdownEvents)
        text += (text.empty() ? "{" : ",") + std::string{pmu} + "/" + std::string{event} + "/";
    return text + "}";
}

}  // namespace

std::string default_events(int detail, bool in_user_space) {
    std::string events = sets_between(0, detail);
    if (in_user_space) events.erase(events.find(kModelledDefault), kModelledDefault.size());
    return events;
}

std::string detail_events(int detail) {
    return sets_between(1, detail);
}

Result<std::string> topdown_events(const host::Root& root) {
    for (const auto pmu : kTopdownPmus) {
        if (root.exists(event_file(pmu, "slots")) && root.exists(event_file(pmu, "topdown-retiring")))
            return topdown_group(pmu);
        if (root.exists(event_file(pmu, "topdown-total-slots")))
            return std::unexpected(Error{"cannot use --topdown",
                                         "this CPU has the top-down events of before Ice Lake, which count a core and "
                                         "need formulas that anyperf does not have",
                                         "perf stat --topdown has them"});
    }
    // An efficiency core has the other events, but no slots.
    const std::string_view missing =
        root.exists(event_file("cpu", "topdown-retiring")) ? kTopdownEvents.front() : kTopdownEvents[1];
    return std::unexpected(
        Error{"cannot use --topdown",
              "this CPU, or its kernel, has no top-down events: there is no " + event_file("cpu", missing),
              "use an Intel CPU from Ice Lake on, or -e cycles,instructions,branch-misses"});
}

}  // namespace anyperf::cli::stat

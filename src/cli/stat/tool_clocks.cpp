// tool_clocks.cpp: see tool_clocks.h.
#include "cli/stat/tool_clocks.h"

#include <algorithm>
#include <array>

#include "abi/event_ids.h"

namespace anyperf::cli::stat {

namespace {

struct Clock {
    std::string_view name;
    std::uint64_t Report::* ns;
};
constexpr std::array kClocks{
    Clock{"duration_time", &Report::wall_ns},
    Clock{"user_time", &Report::user_ns},
    Clock{"system_time", &Report::system_ns},
};

constexpr std::uint64_t kDummy = 9;              // PERF_COUNT_SW_DUMMY
constexpr std::string_view kAround = ",{}: \t";  // what stands before and behind an event in a list

std::string stand_in(std::string_view name) {
    return "dummy/name=" + std::string{name} + "/u";
}

bool is_stand_in(const events::Event& event, std::string_view name) {
    return event.pmu.empty() && event.attr.type == abi::kTypeSoftware && event.attr.config == kDummy &&
           event.typed == name;
}

}  // namespace

std::string with_stand_ins(std::string_view events) {
    std::string text;
    while (!events.empty()) {
        const std::size_t end = std::min(events.find_first_of(kAround), events.size());
        const std::string_view word = events.substr(0, end);
        text += std::ranges::find(kClocks, word, &Clock::name) != kClocks.end() ? stand_in(word) : std::string{word};
        text += events.substr(end, 1);
        events.remove_prefix(std::min(end + 1, events.size()));
    }
    return text;
}

void fill_clocks(Report& report) {
    for (auto& line : report.lines)
        for (const Clock& clock : kClocks) {
            if (!is_stand_in(line.event, clock.name)) continue;
            const std::uint64_t ns = report.*clock.ns;
            line.event.unit = "ns";
            line.name = clock.name;
            line.refusal.reset();
            line.user_only = false;
            line.count.raw = line.count.value = ns;
            line.count.enabled_ns = line.count.running_ns = report.wall_ns;
        }
}

}  // namespace anyperf::cli::stat

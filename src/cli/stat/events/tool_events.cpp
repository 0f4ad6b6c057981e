// tool_events.cpp: replaces tool events by placeholders, and fills in their lines.
#include "cli/stat/events/tool_events.h"

#include <algorithm>
#include <array>

#include "abi/event_ids.h"

namespace anyperf::cli::stat {

namespace {

/// A tool event, and the member of the report that has its time.
struct ToolEvent {
    std::string_view name;
    std::uint64_t Report::* ns;
};
constexpr std::array kToolEvents{
    ToolEvent{"duration_time", &Report::wall_ns},
    ToolEvent{"user_time", &Report::user_ns},
    ToolEvent{"system_time", &Report::system_ns},
};

constexpr std::uint64_t kDummy = 9;                  // PERF_COUNT_SW_DUMMY
constexpr std::string_view kSeparators = ",{}: \t";  // what may surround an event in a list or group

/// User mode only, so that it needs no privilege.
std::string placeholder(std::string_view name) {
    return "dummy/name=" + std::string{name} + "/u";
}

/// Whether the event is the placeholder of this tool event. `source_text` distinguishes it from a dummy event that the
/// user typed: the placeholder's term name= has set it to `name`.
bool is_placeholder(const events::Event& event, std::string_view name) {
    return event.pmu.empty() && event.attr.type == abi::kTypeSoftware && event.attr.config == kDummy &&
           event.source_text == name;
}

}  // namespace

std::string with_placeholders(std::string_view events) {
    std::string text;
    while (!events.empty()) {
        const std::size_t end = std::min(events.find_first_of(kSeparators), events.size());
        const std::string_view word = events.substr(0, end);
        text += std::ranges::find(kToolEvents, word, &ToolEvent::name) != kToolEvents.end() ? placeholder(word)
                                                                                            : std::string{word};
        text += events.substr(end, 1);
        events.remove_prefix(std::min(end + 1, events.size()));
    }
    return text;
}

// The count of the dummy event is not used, so its refusal does not matter and is removed.
void fill_tool_events(Report& report) {
    for (auto& line : report.lines)
        for (const ToolEvent& tool : kToolEvents) {
            if (!is_placeholder(line.event, tool.name)) continue;
            const std::uint64_t ns = report.*tool.ns;
            line.event.unit = "ns";
            line.name = tool.name;
            line.refusal.reset();
            line.user_only = false;
            line.with_own_share = report.mode == "virtual";
            line.count.raw = line.count.value = ns;
            line.count.enabled_ns = line.count.running_ns = report.wall_ns;
        }
}

}  // namespace anyperf::cli::stat

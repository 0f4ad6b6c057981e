#include "cli/command/event_filters.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>

#include "abi/event_ids.h"
#include "host/kernel/tracefs.h"
#include "host/root.h"

namespace anyperf::cli {

namespace {

/// The file that lists the fields of a tracepoint. Found by the id, since the event's name may be a pattern or a name=
/// term, and may have modifiers.
std::string fields_file(const events::Event& event) {
    const auto tracefs = host::Tracefs::find(host::Root{});
    if (!tracefs) return "/sys/kernel/tracing/events/*/*/format";
    if (const auto name = tracefs->name_of(event.attr.config))
        return fmt::format("{}/events/{}/{}/format", tracefs->directory(), name->first, name->second);
    return tracefs->directory() + "/events/*/*/format";
}

}  // namespace

// CLI11 keeps the texts of one option in order, and parse_order() has an entry for each option in the order of the
// command line.
Result<std::vector<EventFilter>> assign_filters(const CLI::App& verb, const std::vector<std::string>& texts) {
    const CLI::Option* const event = verb.get_option("--event");
    const CLI::Option* const filter = verb.get_option("--filter");
    const CLI::Option* const without_self = verb.get_option_no_throw("--exclude-perf");
    std::vector<EventFilter> filters;
    std::size_t events = 0;
    std::size_t used = 0;
    for (const CLI::Option* option : verb.parse_order()) {
        events += option == event ? 1 : 0;
        if (option != filter && option != without_self) continue;
        const std::string text = option == filter ? texts.at(used++) : fmt::format("common_pid != {}", getpid());
        if (events == 0)
            return std::unexpected(Error{option == filter ? "bad --filter " + text : "bad --exclude-perf",
                                         "there is no -e before it",
                                         option == filter ? "-e sched:sched_switch --filter 'prev_pid == 0'"
                                                          : "-e sched:sched_switch --exclude-perf"});
        filters.push_back({events - 1, text});
    }
    return filters;
}

std::string filter_of(std::span<const EventFilter> filters, std::size_t event_option) {
    std::string text;
    for (const auto& filter : filters) {
        if (filter.event_option != event_option) continue;
        text = text.empty() ? filter.text : fmt::format("({}) && ({})", text, filter.text);
    }
    return text;
}

Result<void> check_filter(const std::string& filter, const events::EventGroup& group) {
    for (const auto& event : group.events)
        if (!filter.empty() && event.attr.type != abi::kTypeTracepoint)
            return std::unexpected(Error{fmt::format("cannot filter {} by {}", event.name, filter),
                                         "only tracepoints have fields that a filter compares",
                                         "give --filter after an -e of tracepoints alone"});
    return {};
}

Error filter_refusal(const events::Event& event, const std::string& filter, const std::string& cause) {
    return Error{fmt::format("cannot filter {} by {}", event.name, filter),
                 cause + ": the filter names a field that the tracepoint does not have, or is not a valid expression",
                 "the tracepoint's fields: " + fields_file(event)};
}

}  // namespace anyperf::cli

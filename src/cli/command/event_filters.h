// event_filters.h: --filter of `stat` and `record`: which hits of a tracepoint count, by an expression on its fields
// (Documentation/trace/events.rst, "Event filtering"). A filter belongs to the -e before it, as in perf.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "anyperf/event.h"

namespace CLI {
class App;
}

namespace anyperf::cli {

/// One --filter.
struct EventFilter {
    std::size_t event_option = 0;  ///< the index of the -e whose events it filters
    std::string text;
};

/// The filters in the order of the command line. `texts` are those of --filter. Each --exclude-perf, if the verb has
/// that option, leaves out this process. Error: one of them precedes all -e.
Result<std::vector<EventFilter>> assign_filters(const CLI::App& verb, const std::vector<std::string>& texts);

/// The filter for the events of one -e; empty if it has none. Several filters of one -e must all hold. They are joined
/// by &&, because the kernel takes one filter for each event.
std::string filter_of(std::span<const EventFilter> filters, std::size_t event_option);

/// Error: the filter is not empty, and an event of the group is no tracepoint. Only tracepoints have fields.
Result<void> check_filter(const std::string& filter, const events::EventGroup& group);

/// The kernel's refusal of a filter, in words. It names the file that lists the fields of the tracepoint. It cannot say
/// more, because the kernel returns EINVAL both for an unknown field and for a malformed expression.
Error filter_refusal(const events::Event& event, const std::string& filter, const std::string& cause);

}  // namespace anyperf::cli

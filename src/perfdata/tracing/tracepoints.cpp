#include "perfdata/tracing/tracepoints.h"

#include <utility>

#include "perfdata/tracing/raw_event.h"
#include "perfdata/tracing/tracing_data.h"

namespace anyperf::perfdata {

Tracepoints::Tracepoints(Bytes tracing_data, FindKernelPlace find_place) : find_place_(std::move(find_place)) {
    const TracingData data = read_tracing_data(tracing_data);
    foreign_ = data.foreign;
    for (const TracingData::Format& each : data.formats)
        if (auto format = parse_event_format(each.text)) {
            const std::uint64_t id = format->id;
            events_.try_emplace(id, Event{std::move(*format)});
        }
}

// The mark is that of perf's library, so that who reads the text knows that the values are not interpreted.
bool Tracepoints::append(std::uint64_t id, Bytes raw, std::string& text) {
    const auto at = events_.find(id);
    if (at == events_.end()) return false;
    Event& event = at->second;
    if (!std::exchange(event.parsed, true)) event.print = parse_print_format(event.format);
    const RawEvent values{event.format, raw, foreign_};
    if (event.print) {
        append_event_text(*event.print, values, find_place_, text);
    } else {
        text += "[FAILED TO PARSE]";
        append_event_fields(values, text);
    }
    return true;
}

const EventFormat* Tracepoints::format(std::uint64_t id) const {
    const auto at = events_.find(id);
    return at == events_.end() ? nullptr : &at->second.format;
}

void Tracepoints::append_field(std::uint64_t id, Bytes raw, std::string_view field, std::string& text) const {
    const EventFormat* const known = format(id);
    const EventField* const found = known ? known->find(field) : nullptr;
    if (found) perfdata::append_field(RawEvent{*known, raw, foreign_}, *found, text);
}

}  // namespace anyperf::perfdata

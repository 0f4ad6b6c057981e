#include "analysis/tracing/trace_fields.h"

#include <algorithm>

#include "abi/event_ids.h"
#include "perfdata/tracing/tracepoints.h"

namespace anyperf::analysis {

namespace {

constexpr std::string_view kAllFields = "trace_fields", kRaw = "/raw";

void add(std::string name, std::vector<std::string>& names) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
}

/// Adds the fields that `name` selects. Returns false if no tracepoint has such a field.
bool add_fields(std::string_view text, const perfdata::Reader& reader, const perfdata::Tracepoints& tracepoints,
                std::vector<std::string>& names) {
    const TraceField wanted{text};
    const bool all = text == kAllFields || wanted.name == "*";
    bool found = false;
    for (const perfdata::EventInfo& event : reader.events()) {
        const perfdata::EventFormat* const format =
            event.attr.type == abi::kTypeTracepoint ? tracepoints.format(event.attr.config) : nullptr;
        if (!format || (text != kAllFields && !wanted.is_of(event.name))) continue;
        if (!all) {
            found |= format->find(wanted.name) != nullptr;
            continue;
        }
        found = true;
        for (std::size_t i = format->first_own; i < format->fields.size(); ++i)
            add(format->fields[i].name + (wanted.raw ? std::string{kRaw} : ""), names);
    }
    if (found && !all) add(std::string{text}, names);
    return found;
}

}  // namespace

TraceField::TraceField(std::string_view text) {
    raw = text.ends_with(kRaw);
    if (raw) text.remove_suffix(kRaw.size());
    const std::size_t dot = text.rfind('.');
    event = dot == std::string_view::npos ? std::string_view{} : text.substr(0, dot);
    name = dot == std::string_view::npos ? text : text.substr(dot + 1);
}

bool TraceField::is_of(std::string_view recorded_event) const {
    return event.empty() || event == recorded_event || event == recorded_event.substr(recorded_event.find(':') + 1);
}

std::string_view printed_value(std::string_view text, std::string_view field) {
    for (std::size_t at = text.find(field); at != std::string_view::npos; at = text.find(field, at + 1)) {
        const std::size_t end = at + field.size();
        const bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == ',';
        if (!begins || end >= text.size() || (text[end] != '=' && text[end] != ':')) continue;
        std::string_view value = text.substr(end + 1);
        value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
        value = value.substr(0, value.find(' '));
        if (value.ends_with(',')) value.remove_suffix(1);
        return value;
    }
    return {};
}

std::vector<std::string> known_trace_fields(const perfdata::Reader& reader, const std::string& name) {
    std::vector<std::string> known;
    const perfdata::Tracepoints tracepoints{reader.facts().tracing_data, {}};
    if (!add_fields(name, reader, tracepoints, known)) return {};
    return known;
}

}  // namespace anyperf::analysis

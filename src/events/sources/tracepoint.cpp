// tracepoint.cpp: tracepoints by name or pattern: "sched:sched_switch", "syscalls:*read*". Their ids come from tracefs.
//
// This is the last source, so an item SYSTEM:NAME that is unknown gets its error here.
#include <algorithm>

#include "abi/event_ids.h"
#include "events/sources/name_source.h"
#include "events/suggest/near_names.h"
#include "events/suggest/other_cpus.h"
#include "events/suggest/unknown_name.h"
#include "events/syntax/glob.h"
#include "try.h"

namespace anyperf::events {

namespace {

/// Whether `text` can be a file name below events/ of tracefs: no slash, not hidden.
bool is_name(std::string_view text) {
    return !text.empty() && text.front() != '.' && text.find('/') == std::string_view::npos &&
           text.find('\0') == std::string_view::npos;
}

/// The names that match the pattern.
std::vector<std::string> matching(std::string_view pattern, std::vector<std::string> names) {
    std::erase_if(names, [&](const std::string& name) { return !glob_matches(pattern, name); });
    return names;
}

Parsed<Event> tracepoint(const host::Tracefs& tracefs, const Item& item, const std::string& system,
                         const std::string& name) {
    const auto id = tracefs.id(system, name);
    if (!id) return parse_error(item.parts[1], id.error().what + ": " + id.error().cause, id.error().fix);
    Event event = make_event(abi::kTypeTracepoint, *id);
    event.name = system + ':' + name;
    return event;
}

/// No tracepoints are called SYSTEM, so SYSTEM may be a misspelled event or an event of another CPU.
std::unexpected<ParseError> no_system(const Machine::Data& machine, const host::Tracefs& tracefs, const Item& item) {
    if (auto others = explain_event_of_other_cpus(machine, item.parts[0])) return std::unexpected(*std::move(others));
    const std::vector<std::string> systems = tracefs.systems();
    std::string near = did_you_mean(item.parts[0], systems);
    if (near.empty()) near = near_event(machine, item.parts[0]);
    return parse_error(
        item.parts[0], "this machine has no event and no group of tracepoints called " + in_quotes(item.parts[0]),
        near.empty() ? "`anyperf list` shows what there is; events of another CPU need its prefix, as in skl::NAME"
                     : near);
}

std::unexpected<ParseError> no_event(const host::Tracefs& tracefs, const Item& item) {
    const std::string system{item.parts[0]};
    if (is_glob(item.parts[0]) || is_glob(item.parts[1]))
        return parse_error(item.text, "no tracepoint matches the pattern", "list them: anyperf list tracepoint");
    return parse_error(item.parts[1],
                       "the tracepoints of " + in_quotes(system) + " include none called " + in_quotes(item.parts[1]),
                       did_you_mean(item.parts[1], tracefs.events(system)));
}

/// One event for each tracepoint that matches the patterns.
Parsed<std::vector<Event>> expand(const host::Tracefs& tracefs, const Item& item) {
    std::vector<Event> events;
    for (const std::string& system : matching(item.parts[0], tracefs.systems()))
        for (const std::string& name : matching(item.parts[1], tracefs.events(system)))
            events.push_back(TRY(tracepoint(tracefs, item, system, name)));
    return events;
}

constexpr std::string_view kPfmPrefix = "perf";

/// "perf::sched:sched_switch", as libpfm writes tracepoints: the item without the prefix, if the tracepoint exists.
std::optional<Item> without_prefix(const Machine::Data& machine, const Item& item) {
    if (item.parts.size() < 4 || item.parts[0] != kPfmPrefix || !item.parts[1].empty()) return std::nullopt;
    const auto& tracefs = machine.tracefs();
    if (!tracefs || !is_name(item.parts[2]) || !is_name(item.parts[3]) || !tracefs->has(item.parts[2], item.parts[3]))
        return std::nullopt;
    Item rest = item;
    rest.parts.erase(rest.parts.begin(), rest.parts.begin() + 2);
    return rest;
}

}  // namespace

Parsed<std::optional<Match>> from_tracepoints(const Machine::Data& machine, const Item& item) {
    if (const auto rest = without_prefix(machine, item)) {
        auto found = TRY(from_tracepoints(machine, *rest));
        if (found) found->parts_used += 2;
        return found;
    }
    if (item.parts.size() < 2 || !is_name(item.parts[0]) || !is_name(item.parts[1])) return std::nullopt;
    const auto& tracefs = machine.tracefs();
    if (!tracefs) {
        if (auto others = explain_event_of_other_cpus(machine, item.parts[0]))
            return std::unexpected(*std::move(others));
        return parse_error(item.text,
                           "no event is called " + in_quotes(item.parts[0]) +
                               ", and tracepoints cannot be looked up: " + tracefs.error().cause,
                           tracefs.error().fix);
    }
    if (!is_glob(item.parts[0]) && !is_glob(item.parts[1]) && tracefs->has(item.parts[0], item.parts[1])) {
        Match match{{}, 2};
        match.events.push_back(TRY(tracepoint(*tracefs, item, std::string{item.parts[0]}, std::string{item.parts[1]})));
        return match;
    }
    Match match {
        TRY(expand(*tracefs, item))
        , 2
    };
    match.distinct_names = match.events.size() > 1;
    if (!match.events.empty()) return match;
    return tracefs->events(item.parts[0]).empty() && !is_glob(item.parts[0]) ? no_system(machine, *tracefs, item)
                                                                             : no_event(*tracefs, item);
}

}  // namespace anyperf::events

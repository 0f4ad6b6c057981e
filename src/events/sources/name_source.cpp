#include "events/sources/name_source.h"

#include "abi/attr_flags.h"
#include "abi/event_ids.h"

namespace anyperf::events {

// exclude_guest is perf's default for every event without a modifier (event_attr_init() of its sources).
void init_event(Event& event, std::uint32_t type, std::uint64_t config) {
    event.attr.type = type;
    event.attr.size = sizeof(abi::Attr);
    event.attr.config = config;
    event.attr.flags = abi::flag("exclude_guest");
}

Event make_event(std::uint32_t type, std::uint64_t config) {
    Event event;
    init_event(event, type, config);
    return event;
}

Match make_match(std::uint32_t type, std::uint64_t config, std::size_t parts) {
    Match match{{}, parts};
    init_event(match.events.emplace_back(), type, config);
    return match;
}

// On a hybrid machine an event without a PMU in its config is counted on one kind of core only, so perf and anyperf
// open one for each kind.
Match match_each_core_pmu(const Machine::Data& machine, std::uint32_t type, std::uint64_t config, std::size_t parts) {
    const auto cores = machine.core_pmus();
    if (cores.size() < 2) return make_match(type, config, parts);
    Match match{{}, parts, false, true};
    for (const host::Pmu* core : cores) {
        Event event = make_event(type, config | std::uint64_t{core->type()} << abi::kPmuTypeShift);
        event.pmu = core->name();
        event.cpus = core->cpus();
        match.events.push_back(std::move(event));
    }
    return match;
}

}  // namespace anyperf::events

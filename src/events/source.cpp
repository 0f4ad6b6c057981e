// source.cpp: see source.h.
#include "events/source.h"

#include "abi/attr_flags.h"
#include "abi/event_ids.h"

namespace anyperf::events {

void begin_plain(Event& event, std::uint32_t type, std::uint64_t config) {
    event.attr.type = type;
    event.attr.size = sizeof(abi::Attr);
    event.attr.config = config;
    event.attr.flags = abi::flag("exclude_guest");
}

Event plain_event(std::uint32_t type, std::uint64_t config) {
    Event event;
    begin_plain(event, type, config);
    return event;
}

Match plain_match(std::uint32_t type, std::uint64_t config, std::size_t parts) {
    Match match{{}, parts};
    begin_plain(match.events.emplace_back(), type, config);
    return match;
}

Match on_each_core(const Machine::Data& machine, std::uint32_t type, std::uint64_t config, std::size_t parts) {
    const auto cores = machine.core_pmus();
    if (cores.size() < 2) return plain_match(type, config, parts);
    Match match{{}, parts, false, true};
    for (const host::Pmu* core : cores) {
        Event event = plain_event(type, config | std::uint64_t{core->type()} << abi::kPmuTypeShift);
        event.pmu = core->name();
        event.cpus = core->cpus();
        match.events.push_back(std::move(event));
    }
    return match;
}

}  // namespace anyperf::events

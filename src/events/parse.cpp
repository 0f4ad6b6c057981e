// parse.cpp: from an event string to groups of events.
#include <algorithm>

#include "events/grouping.h"
#include "events/other_cpus.h"
#include "events/resolve.h"

namespace anyperf::events {

namespace {

Parsed<> check_owner(const Machine::Data& machine, const Item& item, const std::vector<Event>& events) {
    const auto absent = std::ranges::find_if(
        events, [](const Event& event) { return !event.absent_pmu.empty() || !event.type_of.empty(); });
    if (absent == events.end()) return {};
    const std::string_view name = item.parts.size() > 2 ? item.parts[2] : item.parts[0];
    if (!absent->absent_pmu.empty())
        return std::unexpected(of_an_absent_pmu(machine, item.parts[0], absent->absent_pmu, name));
    return fault(item.parts[0], "the kernel of this machine has no PMU " + absent->type_of + " to count it",
                 "`anyperf explain` tells which PMUs there are");
}

Parsed<std::vector<EventGroup>> parse_tokens(const Machine::Data& machine, std::string_view text, Whose names) {
    Room room;
    const std::pmr::vector<GroupText> tokens = TRY(tokenize(text, room));
    std::vector<EventGroup> groups;
    groups.reserve(tokens.size());
    for (const GroupText& group : tokens) {
        std::pmr::vector<Resolved> items{room.memory()};
        items.reserve(group.items.size());
        for (const Item& item : group.items) {
            std::vector<Event> events = TRY(resolve(machine, item));
            if (names == Whose::this_machine) TRY(check_owner(machine, item, events));
            items.push_back({&item, std::move(events)});
        }
        TRY(add_groups(group, items, groups));
    }
    return groups;
}

}  // namespace

Result<std::vector<EventGroup>> parse(const Machine& machine, std::string_view text, Whose names) {
    auto groups = parse_tokens(machine.data(), text, names);
    if (!groups) return std::unexpected(to_error(groups.error(), text));
    return *std::move(groups);
}

abi::Attr attr_to_open(const Event& event) {
    abi::Attr attr = event.attr;
    if (!event.config1_text.empty()) attr.config1 = reinterpret_cast<std::uintptr_t>(event.config1_text.c_str());
    return attr;
}

}  // namespace anyperf::events

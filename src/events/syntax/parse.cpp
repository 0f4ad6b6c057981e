// parse.cpp: from an event string to groups of events: tokenize, resolve each item, group. resolve.h describes the
// steps. All texts in between are views of the event string, and temporary vectors are in scratch memory on the stack:
// most strings are parsed without an allocation but for the events themselves.
#include <algorithm>

#include "events/names/resolve.h"
#include "events/suggest/other_cpus.h"
#include "events/syntax/grouping.h"
#include "try.h"

namespace anyperf::events {

namespace {

/// Refuses an event of the catalog that this machine can't count: its CPU has no such PMU, or its kernel does not
/// support the PMU. On another CPU the same code counts something else.
Parsed<> check_owner(const Machine::Data& machine, const Item& item, const std::vector<Event>& events) {
    const auto absent = std::ranges::find_if(
        events, [](const Event& event) { return !event.absent_pmu.empty() || !event.missing_pmu.empty(); });
    if (absent == events.end()) return {};
    const std::string_view name = item.parts.size() > 2 ? item.parts[2] : item.parts[0];
    if (!absent->absent_pmu.empty())
        return std::unexpected(explain_absent_pmu(machine, item.parts[0], absent->absent_pmu, name));
    return parse_error(item.parts[0], "the kernel of this machine has no PMU " + absent->missing_pmu + " to count it",
                       "`anyperf explain` shows which PMUs there are");
}

Parsed<std::vector<EventGroup>> parse_tokens(const Machine::Data& machine, std::string_view text, CatalogScope scope) {
    ScratchMemory scratch;
    const std::pmr::vector<GroupText> tokens = TRY(tokenize(text, scratch));
    std::vector<EventGroup> groups;
    groups.reserve(tokens.size());
    for (const GroupText& group : tokens) {
        std::pmr::vector<ResolvedItem> items{scratch.memory()};
        items.reserve(group.items.size());
        for (const Item& item : group.items) {
            std::vector<Event> events = TRY(resolve(machine, item));
            if (scope == CatalogScope::this_machine) TRY(check_owner(machine, item, events));
            items.push_back({&item, std::move(events)});
        }
        TRY(add_groups(group, items, groups));
    }
    return groups;
}

}  // namespace

Result<std::vector<EventGroup>> parse(const Machine& machine, std::string_view text, CatalogScope scope) {
    auto groups = parse_tokens(machine.data(), text, scope);
    if (!groups) return std::unexpected(to_error(groups.error(), text));
    return *std::move(groups);
}

abi::Attr attr_to_open(const Event& event) {
    abi::Attr attr = event.attr;
    if (!event.config1_text.empty()) attr.config1 = reinterpret_cast<std::uintptr_t>(event.config1_text.c_str());
    return attr;
}

}  // namespace anyperf::events

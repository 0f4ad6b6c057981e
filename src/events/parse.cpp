// parse.cpp: from an event string to groups of events.
#include "events/grouping.h"
#include "events/resolve.h"

namespace anyperf::events {

namespace {

Parsed<std::vector<EventGroup>> parse_tokens(const Machine::Data& machine, std::string_view text) {
    const std::vector<GroupText> tokens = TRY(tokenize(text));
    std::vector<EventGroup> groups;
    for (const GroupText& group : tokens) {
        std::vector<Resolved> items;
        for (const Item& item : group.items) items.push_back({ &item, TRY(resolve(machine, item)) });
        TRY(add_groups(group, std::move(items), groups));
    }
    return groups;
}

}  // namespace

Result<std::vector<EventGroup>> parse(const Machine& machine, std::string_view text) {
    auto groups = parse_tokens(machine.data(), text);
    if (!groups) return std::unexpected(to_error(groups.error(), text));
    return *std::move(groups);
}

abi::Attr attr_to_open(const Event& event) {
    abi::Attr attr = event.attr;
    if (!event.config1_text.empty()) attr.config1 = reinterpret_cast<std::uintptr_t>(event.config1_text.c_str());
    return attr;
}

}  // namespace anyperf::events

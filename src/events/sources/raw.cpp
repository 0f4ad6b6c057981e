// raw.cpp: "r1c0": attr.config for the core PMU, in hexadecimal; "4:0x1c0": type and config.
#include "abi/event_ids.h"
#include "events/sources/name_source.h"
#include "events/syntax/text.h"

namespace anyperf::events {

namespace {

constexpr std::size_t kMaxHexDigits = 16;

/// "4:0x1c0". A number alone is not an event.
Parsed<std::optional<Match>> numbered(const Item& item, std::uint64_t type) {
    if (item.parts.size() < 2) return std::nullopt;
    const auto config = number(item.parts[1]);
    if (!config) return std::nullopt;
    if (type > UINT32_MAX)
        return parse_error(item.parts[0], "an event type has 32 bits", "write TYPE:CONFIG, as in 4:0x1c0");
    return make_match(static_cast<std::uint32_t>(type), *config, 2);
}

/// PERF_TYPE_RAW on a machine with one core PMU. On a hybrid machine one event for each core PMU, by its own type.
Match match_raw_on_each_core_pmu(const Machine::Data& machine, std::uint64_t config) {
    const auto cores = machine.core_pmus();
    if (cores.size() < 2) return make_match(abi::kTypeRaw, config);
    Match match{{}, 1, false, true};
    for (const host::Pmu* core : cores) {
        Event event = make_event(core->type(), config);
        event.pmu = core->name();
        event.cpus = core->cpus();
        match.events.push_back(std::move(event));
    }
    return match;
}

}  // namespace

// Asked after the names of sysfs and of the kernel: "r" followed by letters a to f may be a name.
Parsed<std::optional<Match>> from_raw(const Machine::Data& machine, const Item& item) {
    std::string_view text = item.parts[0];
    if (const auto type = number(text)) return numbered(item, *type);
    if (!text.starts_with('r')) return std::nullopt;
    text.remove_prefix(1);
    if (text.starts_with("0x")) text.remove_prefix(2);
    if (text.size() > kMaxHexDigits && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos)
        return parse_error(item.parts[0], "a raw event has at most 16 hexadecimal digits", "write rNNN, as in r1c0");
    const auto config = digits(text, 16);
    if (!config) return std::nullopt;
    return match_raw_on_each_core_pmu(machine, *config);
}

}  // namespace anyperf::events

#include "events/sources/vendor_pmus.h"

#include <algorithm>
#include <charconv>

#include "events/vendor/whole_match.h"

namespace anyperf::events {

namespace {

bool is_digit(char letter) {
    return letter >= '0' && letter <= '9';
}

bool is_hexadecimal(char letter) {
    return is_digit(letter) || (letter >= 'a' && letter <= 'f') || (letter >= 'A' && letter <= 'F');
}

/// Whether `name` is `listed`, with or without the number of an instance: "_3", "3", or an address with more than two
/// digits, "_ff4000".
bool is_same_without_number(std::string_view name, std::string_view listed) {
    if (!name.starts_with(listed)) return false;
    std::string_view number = name.substr(listed.size());
    if (number.empty()) return true;
    if (number.starts_with('_')) number.remove_prefix(1);
    if (number.empty() || !std::ranges::all_of(number, is_hexadecimal)) return false;
    return std::ranges::all_of(number, is_digit) || number.size() > 2;
}

/// "64Bytes": 64 and "Bytes".
void set_scale(std::string_view scale, host::Alias& alias) {
    const auto [end, error] = std::from_chars(scale.data(), scale.data() + scale.size(), alias.scale);
    alias.unit = error == std::errc{} ? std::string_view{end, scale.data() + scale.size()} : scale;
}

bool has_identifier(const vendor::EventRow& event, const std::string& identifier) {
    return vendor::matches_whole(vendor::text(vendor::kind_of(event).compat).data(), identifier);
}

/// Whether the list's event belongs to the PMU by name.
bool is_of(const vendor::ListRow& list, const vendor::EventRow& event, const host::Pmu& pmu) {
    const vendor::BoxRow& box = vendor::box_of(list, event);
    if (box.pmu == 0) return pmu.is_core();
    const std::string_view listed = vendor::text(box.pmu);
    return is_instance_of(pmu.name(), listed) || (!pmu.alias().empty() && is_instance_of(pmu.alias(), listed));
}

/// The event of a PMU that is no part of a CPU.
std::optional<host::Alias> system_alias(const host::Pmu& pmu, std::string_view name) {
    std::optional<std::string> identifier;  // read once, and only if a list has the name for PMUs of this name
    for (const vendor::ListRow& list : vendor::lists()) {
        if (list.is_system == 0) continue;
        for (const vendor::EventRow& event : vendor::find_events(list, name)) {
            if (!is_of(list, event, pmu)) continue;
            if (!identifier) identifier = pmu.identifier();
            if (!identifier->empty() && has_identifier(event, *identifier)) return vendor_alias_of(event, name);
        }
    }
    return std::nullopt;
}

}  // namespace

host::Alias vendor_alias_of(const vendor::EventRow& event, std::string_view name) {
    const vendor::KindRow& kind = vendor::kind_of(event);
    host::Alias alias;
    alias.name = name;
    alias.terms = vendor::terms_of(event);
    alias.per_package = kind.per_package != 0;
    if (kind.scale != 0) set_scale(vendor::text(kind.scale), alias);
    return alias;
}

bool is_instance_of(std::string_view pmu, std::string_view listed) {
    while (true) {
        const std::size_t comma = listed.find(',');
        if (comma == std::string_view::npos) break;
        const std::string_view piece = listed.substr(0, comma);  // anywhere, in this order
        const std::size_t place = pmu.find(piece);
        if (place == std::string_view::npos) return false;
        pmu.remove_prefix(place + piece.size());
        listed.remove_prefix(comma + 1);
        const std::size_t last = pmu.find(listed.substr(0, listed.find(',')));
        if (last == std::string_view::npos) return false;
        pmu.remove_prefix(last);
    }
    return is_same_without_number(pmu, listed);
}

std::optional<host::Alias> vendor_alias(const Machine::Data& machine, const host::Pmu& pmu, std::string_view name) {
    if (!vendor::is_event_name(name)) return std::nullopt;
    if (const vendor::ListRow* list = machine.vendor_list(pmu))
        for (const vendor::EventRow& event : vendor::find_events(*list, name))
            if (is_of(*list, event, pmu)) return vendor_alias_of(event, name);
    return system_alias(pmu, name);
}

}  // namespace anyperf::events

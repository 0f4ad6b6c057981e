// catalog_names.cpp: formats the catalog's events and masks, as text and as JSON. Each mask has a line of its own below
// its event.
#include "cli/list/catalog_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>

#include "anyperf/event_names.h"
#include "cli/list/descriptions.h"
#include "cli/output/wrap.h"
#include "try.h"

namespace anyperf::cli {

namespace {

using events::EventName;
using events::EventNames;
using events::MaskName;
using events::PmuName;

constexpr std::size_t kWidth = 110;
constexpr std::size_t kNameColumn = 64;

/// The description of a mask, or of the event itself if `mask` has no name.
std::string text_of(const PmuDescriptions& descriptions, const EventName& event, const MaskName& mask) {
    return descriptions.find(event.name, mask.name, event.code, mask.code);
}

/// The description as an indented paragraph; empty if there is none.
std::string described(const PmuDescriptions& descriptions, const EventName& event, const MaskName& mask,
                      std::size_t indent) {
    const std::string text = text_of(descriptions, event, mask);
    return text.empty() ? text : std::string(indent, ' ') + wrap(text, kWidth, indent) + '\n';
}

/// The line of a mask: its name, code, whether it applies by default, and the name that it is an alias of.
std::string mask_line(const EventName& event, const MaskName& mask, const PmuDescriptions& descriptions) {
    std::string note = fmt::format("mask {:#x}", mask.code);
    if (mask.is_default) note += ", default";
    if (!mask.alias_of.empty()) note += ", alias of " + mask.alias_of;
    return fmt::format("  {:<{}} {}\n", event.full() + ':' + mask.name, kNameColumn, note) +
           described(descriptions, event, mask, 6);
}

/// An event with all its masks.
std::string event_block(const EventName& event, const PmuDescriptions& descriptions) {
    std::string note = fmt::format("code {:#x}", event.code);
    if (!event.alias_of.empty()) note += ", alias of " + event.alias_of;
    if (!event.modifiers.empty()) note += fmt::format(", modifiers {}", fmt::join(event.modifiers, " "));
    std::string text =
        fmt::format("{:<{}} {}\n", event.full(), kNameColumn + 2, note) + described(descriptions, event, {}, 4);
    for (const MaskName& mask : event.masks) text += mask_line(event, mask, descriptions);
    return text;
}

/// The table of all PMUs of the catalog, and the commands that list their events.
std::string pmus_as_text(const std::vector<PmuName>& pmus) {
    std::string text = fmt::format("{:<28} {:<10} {:<8} {:>7}\n", "PMU", "vendor", "kind", "events");
    for (const PmuName& pmu : pmus)
        text += fmt::format("{:<28} {:<10} {:<8} {:>7}{}\n", pmu.name, pmu.vendor, pmu.type, pmu.events,
                            pmu.active ? "  on this machine" : "");
    return text +
           "\nTo list the events of one PMU: anyperf list --all 'PMU::*'. To search all names: anyperf list --all "
           "'*MISS*'\n";
}

nlohmann::ordered_json pmus_as_json(const std::vector<PmuName>& pmus) {
    auto json = nlohmann::ordered_json::array();
    for (const PmuName& pmu : pmus)
        json.push_back({{"name", pmu.name},
                        {"vendor", pmu.vendor},
                        {"kind", pmu.type},
                        {"events", pmu.events},
                        {"active", pmu.active}});
    return {{"pmus", json}};
}

nlohmann::ordered_json mask_as_json(const EventName& event, const MaskName& mask, const PmuDescriptions& descriptions) {
    nlohmann::ordered_json json{{"name", mask.name}, {"code", mask.code}, {"default", mask.is_default}};
    if (!mask.alias_of.empty()) json["stands_for"] = mask.alias_of;
    if (const std::string text = text_of(descriptions, event, mask); !text.empty()) json["description"] = text;
    return json;
}

/// The same facts as event_block(), for programs.
nlohmann::ordered_json event_as_json(const EventName& event, const PmuDescriptions& descriptions) {
    nlohmann::ordered_json json{
        {"name", event.full()}, {"pmu", event.pmu}, {"event", event.name}, {"code", event.code}};
    if (!event.alias_of.empty()) json["stands_for"] = event.alias_of;
    if (const std::string text = text_of(descriptions, event, {}); !text.empty()) json["description"] = text;
    json["masks"] = nlohmann::ordered_json::array();
    for (const MaskName& mask : event.masks) json["masks"].push_back(mask_as_json(event, mask, descriptions));
    json["modifiers"] = event.modifiers;
    return json;
}

Error nothing_matches(const std::vector<std::string>& patterns) {
    return Error{fmt::format("no event of any CPU matches '{}'", fmt::join(patterns, "' or '")),
                 "no name of a PMU, event or unit mask in the catalog contains it",
                 "anyperf list --all shows the PMUs; a pattern is PMU::EVENT with * and ?, or words", 1};
}

/// Names are ASCII, but descriptions come from files: bytes that are not UTF-8 are replaced.
std::string dump(const nlohmann::ordered_json& json) {
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
}

}  // namespace

Result<std::string> catalog_names(const CatalogOptions& options) {
    const EventNames names = EventNames::read(options.root);
    const Descriptions descriptions =
        options.describe.empty() ? Descriptions{} : TRY(Descriptions::read(options.describe));
    if (options.patterns.empty()) return options.json ? dump(pmus_as_json(names.pmus())) : pmus_as_text(names.pmus());
    std::vector<EventName> found;
    for (const std::string& pattern : options.patterns)
        for (EventName& event : names.match(pattern, true)) found.push_back(std::move(event));
    if (found.empty()) return std::unexpected(nothing_matches(options.patterns));
    std::map<std::string, PmuDescriptions> by_pmu;  // for_pmu() is slow: once for each PMU
    for (const EventName& event : found)
        if (!by_pmu.contains(event.pmu)) by_pmu.emplace(event.pmu, descriptions.for_pmu(event.pmu));
    if (!options.json) {
        std::string text;
        for (const EventName& event : found) text += event_block(event, by_pmu.at(event.pmu));
        return text;
    }
    auto json = nlohmann::ordered_json::array();
    for (const EventName& event : found) json.push_back(event_as_json(event, by_pmu.at(event.pmu)));
    return dump({{"events", json}});
}

}  // namespace anyperf::cli

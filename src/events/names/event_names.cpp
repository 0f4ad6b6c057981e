// event_names.cpp: the functions of event_names.h that make an EventNames, and those that enumerate and search names.
#include "anyperf/event_names.h"

#include <algorithm>
#include <optional>

#include "events/catalog/encoding/request.h"
#include "events/catalog/text.h"
#include "events/machine/chosen_cpu.h"
#include "events/names/event_names_data.h"
#include "try.h"

namespace anyperf::events {

namespace {

using catalog::EventRow;
using catalog::MaskRow;
using catalog::PmuRow;

constexpr std::string_view kTypes[] = {"unknown", "core", "uncore", "os"};

/// Calls `visit` with each event that this model of the PMU has. next_event() skips those of other models.
template <class Visit>
void each_event(const catalog::MachinePmus& machine, const PmuRow& pmu, Visit&& visit) {
    for (int index = -1; (index = catalog::next_event(machine, pmu, index)) >= 0;)
        visit(*catalog::event_at(machine, pmu, static_cast<std::uint32_t>(index)));
}

MaskName mask_name(const MaskRow& mask) {
    return {std::string{catalog::name_of(mask)}, mask.code, (mask.flags & catalog::mask_flag::dfl) != 0,
            std::string{catalog::text(catalog::rule(mask).equivalent)}};
}

EventName event_name(const catalog::MachinePmus& machine, const PmuRow& pmu, const EventRow& event) {
    EventName name{std::string{catalog::text(pmu.name)},
                   std::string{catalog::name_of(event)},
                   event.code,
                   std::string{catalog::text(event.equivalent)},
                   {},
                   {}};
    for (const MaskRow& mask : catalog::masks(event))
        if (catalog::model_has(pmu, mask)) name.masks.push_back(mask_name(mask));
    const auto possible = catalog::allowed_modifiers(machine, pmu, event, catalog::Os::none);
    for (const catalog::ModifierRow& modifier : catalog::modifiers(pmu.modset))
        if (((possible.pmu >> modifier.index) & 1) != 0) name.modifiers.emplace_back(catalog::text(modifier.name));
    return name;
}

/// A search pattern: "PMU::GLOB", a glob, or words. wants() compares it with the name of a PMU, of an event, or of an
/// event with one of its masks ("EVENT:MASK"). A glob must match the whole name. Words may be anywhere in it, in any
/// order ("miss l2").
class Pattern {
  public:
    /// A text with the prefix "PMU::" or with a * or ? is one glob. Any other text is words.
    explicit Pattern(std::string_view text) {
        const std::size_t colons = text.find("::");
        if (colons != std::string_view::npos) pmu_ = text.substr(0, colons);
        const std::string_view rest = colons == std::string_view::npos ? text : text.substr(colons + 2);
        if (rest.find_first_of("*?") != std::string_view::npos || colons != std::string_view::npos)
            globs_.emplace_back(rest.empty() ? "*" : rest);
        else
            split(rest);
    }

    bool names_pmu() const { return !pmu_.empty(); }

    bool wants(const PmuRow& pmu) const {
        return pmu_.empty() || catalog::glob_matches(pmu_, catalog::text(pmu.name)) || resolve_pmu_name(pmu_) == &pmu;
    }

    /// Whether the name contains each word, or matches the glob as a whole.
    bool wants(std::string_view name) const {
        return std::ranges::all_of(globs_, [&](const std::string& glob) { return catalog::glob_matches(glob, name); });
    }

  private:
    void split(std::string_view words) {
        while (!words.empty()) {
            const std::size_t end = std::min(words.find(' '), words.size());
            if (end != 0) globs_.push_back('*' + std::string{words.substr(0, end)} + '*');
            words.remove_prefix(std::min(end + 1, words.size()));
        }
    }

    std::string_view pmu_;
    std::vector<std::string> globs_;
};

/// The event with all of its masks if its own name matches. Otherwise the event with those masks for which "EVENT:MASK"
/// matches, or nullopt if there are none.
std::optional<EventName> matched(const Pattern& pattern, const catalog::MachinePmus& machine, const PmuRow& pmu,
                                 const EventRow& event) {
    const std::string name{catalog::name_of(event)};
    if (pattern.wants(name)) return event_name(machine, pmu, event);
    const auto wanted = [&](const MaskRow& mask) {
        return pattern.wants(name + ':' + std::string{catalog::name_of(mask)});
    };
    if (std::ranges::none_of(catalog::masks(event), wanted)) return std::nullopt;
    EventName found = event_name(machine, pmu, event);
    std::erase_if(found.masks, [&](const MaskName& mask) { return !pattern.wants(name + ':' + mask.name); });
    if (found.masks.empty()) return std::nullopt;
    return found;
}

}  // namespace

// An exact match wins. Otherwise the name must be the end of exactly one PMU's name, after a '_'.
const PmuRow* resolve_pmu_name(std::string_view name) {
    if (const PmuRow* exact = catalog::find_pmu(name)) return exact;
    if (name.size() < 2) return nullptr;
    const PmuRow* found = nullptr;
    for (const PmuRow& pmu : catalog::pmus()) {
        const std::string_view full = catalog::text(pmu.name);
        if (full.size() <= name.size() || full[full.size() - name.size() - 1] != '_') continue;
        if (!catalog::same_name(full.substr(full.size() - name.size()), name)) continue;
        if (found != nullptr) return nullptr;
        found = &pmu;
    }
    return found;
}

EventNames EventNames::read(const std::filesystem::path& root) {
    return EventNames{std::make_shared<const Data>(root.string())};
}

Result<EventNames> EventNames::of_cpu(std::string_view cpu) {
    const ChosenCpu chosen = TRY(choose_cpu(cpu));
    if (chosen.pmu.empty())
        return std::unexpected(Error{"no names of " + std::string{cpu}, "the catalog does not have the CPU",
                                     "`anyperf list --all` shows the CPUs that it has"});
    return EventNames{std::make_shared<const Data>("/", chosen.pmu)};
}

std::vector<PmuName> EventNames::pmus() const {
    std::vector<PmuName> names;
    for (const PmuRow& pmu : catalog::pmus()) {
        int events = 0;
        each_event(data_->machine, pmu, [&](const EventRow&) { ++events; });
        names.push_back({std::string{catalog::text(pmu.name)}, std::string{catalog::text(pmu.vendor)},
                         std::string{kTypes[static_cast<std::size_t>(pmu.type)]}, data_->machine.is_active(pmu),
                         events});
    }
    return names;
}

std::vector<EventName> EventNames::events_of(std::string_view pmu) const {
    std::vector<EventName> names;
    const PmuRow* row = resolve_pmu_name(pmu);
    if (row != nullptr)
        each_event(data_->machine, *row,
                   [&](const EventRow& event) { names.push_back(event_name(data_->machine, *row, event)); });
    return names;
}

std::vector<EventName> EventNames::match(std::string_view text, bool everywhere) const {
    const Pattern pattern{text};
    std::vector<EventName> names;
    for (const PmuRow& pmu : catalog::pmus()) {
        if (!pattern.wants(pmu) || (!everywhere && !pattern.names_pmu() && !data_->machine.is_active(pmu))) continue;
        each_event(data_->machine, pmu, [&](const EventRow& event) {
            if (auto name = matched(pattern, data_->machine, pmu, event)) names.push_back(*std::move(name));
        });
    }
    return names;
}

// Several PMUs may share a table (models of one generation). For a message one PMU of each table is enough.
std::vector<std::string> pmus_with_event(std::string_view event, std::size_t most) {
    std::vector<std::string> names;
    std::vector<std::uint16_t> tables;
    const std::uint32_t hash = catalog::name_hash(event);
    for (const PmuRow& pmu : catalog::pmus()) {
        if (pmu.table >= catalog::tables().size() || std::ranges::find(tables, pmu.table) != tables.end()) continue;
        if (!catalog::visit_named(catalog::tables()[pmu.table], event, hash, [](std::uint32_t) { return true; }))
            continue;
        tables.push_back(pmu.table);
        names.emplace_back(catalog::text(pmu.name));
        if (names.size() == most) break;
    }
    return names;
}

}  // namespace anyperf::events

// catalog_names.cpp: names of the catalog: "INST_RETIRED:ANY_P" of this CPU, "skl::INST_RETIRED:ANY_P:u" of any.
#include <algorithm>

#include "abi/attr_flags.h"
#include "events/catalog/encoding.h"
#include "events/event_names_data.h"
#include "events/modifiers.h"
#include "events/near_names.h"
#include "events/source.h"

namespace anyperf::events {

namespace {

constexpr std::size_t kMostMasksShown = 12;
constexpr unsigned kAllLevels = catalog::kPlmKernel | catalog::kPlmUser | catalog::kPlmHypervisor;

struct Encoded {
    catalog::Refusal refusal;
    catalog::PerfFields fields;
    const catalog::EventRow* event;  ///< as far as it was recognised; nullptr: not at all
    const catalog::PmuRow* pmu;      ///< the same
};

Encoded encoded(const catalog::Machine& machine, std::string_view text) {
    catalog::Encoding encoding{machine};
    encoding.request.type_optional = true;  // to show it; who opens it asks for Whose::this_machine
    encoding.request.wants_canonical = false;
    const catalog::Refusal refusal = catalog::encode(text, kAllLevels, catalog::Os::perf_ext, encoding);
    return {refusal, encoding.perf, encoding.request.event, encoding.request.pmu};
}

/// The PMU of this machine that counts it: CPUs, and whether it can be counted for a task.
void place(Event& event, const Machine::Data& machine) {
    constexpr std::uint64_t kHosts = abi::flag("exclude_host") | abi::flag("exclude_guest");
    const auto pmu = std::ranges::find(machine.pmus, event.attr.type, &host::Pmu::type);
    if (pmu == machine.pmus.end()) return;
    event.pmu = pmu->name();
    event.cpus = pmu->cpus();
    event.cpu_wide_only = pmu->is_uncore();
    if (!pmu->is_core()) event.attr.flags &= ~kHosts;
}

void fill(Event& event, const Machine::Data& machine, const Encoded& encoded) {
    const catalog::PerfFields& fields = encoded.fields;
    begin_plain(event, fields.type, fields.config);
    fields.apply(event.attr);
    event.sampling.period = fields.period;
    event.sampling.freq = fields.frequency;
    if (fields.cpu >= 0) event.cpus = {fields.cpu};
    place(event, machine);
    if (!fields.type_known) event.type_of = catalog::c_text(encoded.pmu->perf_names);
    if (!machine.catalog().active(*encoded.pmu)) event.absent_pmu = catalog::text(encoded.pmu->name);
}

/// A name without prefix is of the first core PMU that has it; on a hybrid machine the others count it on their cores.
Match on_each_core_that_has_it(const Machine::Data& machine, const Encoded& first, const Item& item,
                               std::string_view text, std::size_t parts) {
    Match match{{}, parts, false, false, true};
    fill(match.events.emplace_back(), machine, first);
    if (first.pmu->type != catalog::PmuType::core || text.find("::") != std::string_view::npos) return match;
    for (const std::uint16_t index : machine.catalog().actives()) {
        const catalog::PmuRow& pmu = catalog::pmus()[index];
        if (&pmu == first.pmu || pmu.type != catalog::PmuType::core || pmu.perf_names == 0) continue;
        const Encoded other =
            encoded(machine.catalog(), std::string{catalog::text(pmu.name)} + "::" + std::string{text});
        if (other.refusal.refused()) continue;
        Event event;
        fill(event, machine, other);
        const bool counted =
            event.pmu.empty() || std::ranges::find(match.events, event.pmu, &Event::pmu) != match.events.end();
        if (counted) continue;
        event.name = std::string{catalog::text(pmu.name)} + "::" + std::string{item.text};
        match.events.push_back(std::move(event));
    }
    match.name_each = match.events.size() > 1;
    if (match.name_each)
        match.events.front().name = std::string{catalog::text(first.pmu->name)} + "::" + std::string{item.text};
    std::ranges::sort(match.events, {}, &Event::pmu);  // as the kernel's names have them, for groups of both
    return match;
}

/// The mask that was meant, or those that there are.
std::string masks_for(std::string_view piece, const catalog::EventRow* event) {
    std::vector<std::string> names;
    if (event)
        for (const catalog::MaskRow& mask : catalog::masks(*event)) names.emplace_back(catalog::text(mask.name));
    std::string list = did_you_mean(piece, names);
    if (!list.empty() || names.empty()) return list;
    list = "its unit masks:";
    for (std::size_t i = 0; i < names.size() && i < kMostMasksShown; ++i) list += ' ' + names[i];
    return names.size() > kMostMasksShown ? list + " …" : list;
}

/// The characters of `typed` that the catalog found fault with; it has read `longer` characters more in the prefix.
std::unexpected<Fault> refused(std::string_view typed, std::size_t longer, const Encoded& encoded) {
    const catalog::Refusal& refusal = encoded.refusal;
    const std::size_t at = std::min<std::size_t>(refusal.at < longer ? 0 : refusal.at - longer, typed.size());
    const std::string_view piece = refusal.length == 0 ? typed : typed.substr(at, refusal.length);
    const bool reason = refusal.reason && *refusal.reason;
    const bool other_mask = refusal.code == catalog::Code::attribute || refusal.code == catalog::Code::umask ||
                            refusal.code == catalog::Code::feature_combination;
    return fault(piece, reason ? refusal.reason : catalog::code_text(static_cast<int>(refusal.code)),
                 other_mask ? masks_for(piece, encoded.event) : std::string{});
}

}  // namespace

Parsed<std::optional<Match>> from_catalog(const Machine::Data& machine, const Item& item) {
    const std::string_view first = item.parts.front();
    const std::string_view last = item.parts.back();
    if (first.empty() || (item.parts.size() == 2 && last.empty())) return std::nullopt;
    const auto length = static_cast<std::size_t>(last.data() - item.text.data()) + last.size();
    const std::string_view whole = item.text.substr(0, length);
    const catalog::Machine& known = machine.catalog();
    const bool prefixed = whole.find("::") != std::string_view::npos;
    const std::string completed = prefixed ? with_whole_prefix(whole) : std::string{};
    const std::string_view text = prefixed ? std::string_view{completed} : whole;
    const Encoded all = encoded(known, text);
    if (!all.refusal.refused()) return on_each_core_that_has_it(machine, all, item, text, item.parts.size());
    if (item.parts.size() > 1 && are_modifiers(last)) {
        const std::string_view shorter = text.substr(0, text.size() - last.size() - 1);
        const Encoded without = encoded(known, shorter);
        if (!without.refusal.refused())
            return on_each_core_that_has_it(machine, without, item, shorter, item.parts.size() - 1);
    }
    if (all.refusal.code == catalog::Code::not_found) return std::nullopt;
    return refused(whole, text.size() - whole.size(), all);
}

std::vector<std::string> catalog_event_names(const Machine::Data& machine) {
    std::vector<std::string> names;
    std::vector<std::uint32_t> seen;  // the instances of an uncore box share their events: one of them will do
    for (const std::uint16_t index : machine.catalog().actives()) {
        const catalog::PmuRow& pmu = catalog::pmus()[index];
        const auto events = machine.catalog().events_of(pmu);
        if (events.begin() == events.end() || std::ranges::find(seen, events.begin()->first) != seen.end()) continue;
        seen.push_back(events.begin()->first);
        for (int next = -1; (next = catalog::next_event(machine.catalog(), pmu, next)) >= 0;)
            if (const auto* event = catalog::event_at(machine.catalog(), pmu, static_cast<std::uint32_t>(next)))
                names.emplace_back(catalog::text(event->name));
    }
    return names;
}

std::vector<std::string> catalog_pmu_names() {
    std::vector<std::string> names;
    for (const catalog::PmuRow& pmu : catalog::pmus()) names.emplace_back(catalog::text(pmu.name));
    return names;
}

}  // namespace anyperf::events

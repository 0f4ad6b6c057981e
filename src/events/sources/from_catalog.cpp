// from_catalog.cpp: the source of names of the catalog: "INST_RETIRED:ANY_P" of the CPU of this machine,
// "skl::INST_RETIRED:ANY_P:u" of any CPU.
//
// The catalog reads the whole item, attributes included. If it refuses the item and the last part is a list of
// modifiers, the item without that part is tried: "INST_RETIRED:uk" has the modifiers of perf, which the catalog would
// write ":u:k".
#include <algorithm>

#include "abi/attr_flags.h"
#include "events/catalog/encoding/encoding.h"
#include "events/names/event_names_data.h"
#include "events/sources/name_source.h"
#include "events/suggest/near_names.h"
#include "events/syntax/modifiers.h"

namespace anyperf::events {

namespace {

constexpr std::size_t kMaxMasksShown = 12;
constexpr unsigned kAllLevels = catalog::kPlmKernel | catalog::kPlmUser | catalog::kPlmHypervisor;

struct Encoded {
    catalog::Refusal refusal;
    catalog::PerfFields fields;
    const catalog::EventRow* event;  ///< nullptr: not recognised
    const catalog::PmuRow* pmu;      ///< nullptr: not recognised
};

/// Encodes for display as well: a PMU that this machine lacks is no error here.
Encoded encode_text(const catalog::MachinePmus& machine, std::string_view text) {
    catalog::Encoding encoding{machine};
    // So an event of another machine can be shown. Before it is opened, parse() refuses it
    // (CatalogScope::this_machine).
    encoding.request.type_optional = true;
    encoding.request.wants_canonical = false;
    const catalog::Refusal refusal = catalog::encode(text, kAllLevels, catalog::Os::perf_ext, encoding);
    return {refusal, encoding.perf, encoding.request.event, encoding.request.pmu};
}

/// Fills in the PMU of this machine that counts the event: its CPUs, and whether the event can be counted for a task.
void set_kernel_pmu(Event& event, const Machine::Data& machine) {
    constexpr std::uint64_t kHosts = abi::flag("exclude_host") | abi::flag("exclude_guest");
    const auto pmu = std::ranges::find(machine.pmus, event.attr.type, &host::Pmu::type);
    if (pmu == machine.pmus.end()) return;
    event.pmu = pmu->name();
    event.cpus = pmu->cpus();
    event.cpu_wide_only = pmu->is_uncore();
    if (!pmu->is_core()) event.attr.flags &= ~kHosts;
}

/// Makes an event of an encoded name. absent_pmu and missing_pmu report what this machine lacks to count it.
void fill(Event& event, const Machine::Data& machine, const Encoded& encoded) {
    const catalog::PerfFields& fields = encoded.fields;
    init_event(event, fields.type, fields.config);
    fields.apply(event.attr);
    event.sampling.period = fields.period;
    event.sampling.freq = fields.frequency;
    set_kernel_pmu(event, machine);
    if (fields.cpu >= 0) event.cpus = {fields.cpu};  // in place of those of the PMU
    if (!fields.type_known) event.missing_pmu = catalog::c_text(encoded.pmu->perf_names);
    if (!machine.catalog().is_active(*encoded.pmu)) event.absent_pmu = catalog::text(encoded.pmu->name);
}

/// A name without prefix belongs to the first core PMU that has it. On a hybrid machine there is one event for each
/// core PMU that has it, so that it is counted on all cores.
Match match_each_core_pmu_with_event(const Machine::Data& machine, const Encoded& first, const Item& item,
                                     std::string_view text, std::size_t parts) {
    Match match{{}, parts, false, false, true};
    fill(match.events.emplace_back(), machine, first);
    if (first.pmu->type != catalog::PmuType::core || text.find("::") != std::string_view::npos) return match;
    for (const std::uint16_t index : machine.catalog().active_pmus()) {
        const catalog::PmuRow& pmu = catalog::pmus()[index];
        if (&pmu == first.pmu || pmu.type != catalog::PmuType::core || pmu.perf_names == 0) continue;
        const Encoded other =
            encode_text(machine.catalog(), std::string{catalog::text(pmu.name)} + "::" + std::string{text});
        if (other.refusal.refused()) continue;
        Event event;
        fill(event, machine, other);
        const bool counted =
            event.pmu.empty() || std::ranges::find(match.events, event.pmu, &Event::pmu) != match.events.end();
        if (counted) continue;
        event.name = std::string{catalog::text(pmu.name)} + "::" + std::string{item.text};
        match.events.push_back(std::move(event));
    }
    match.distinct_names = match.events.size() > 1;
    if (match.distinct_names)
        match.events.front().name = std::string{catalog::text(first.pmu->name)} + "::" + std::string{item.text};
    // Events of the kernel are in this order, too; only in the same order can both be in one group (grouping.cpp).
    std::ranges::sort(match.events, {}, &Event::pmu);
    return match;
}

/// The mask that was probably meant, or a list of the masks.
std::string masks_for(std::string_view piece, const Encoded& encoded) {
    std::vector<std::string> names;
    if (encoded.event != nullptr)
        for (const catalog::MaskRow& mask : catalog::masks(*encoded.event))
            if (catalog::model_has(*encoded.pmu, mask)) names.emplace_back(catalog::name_of(mask));
    std::string list = did_you_mean(piece, names);
    if (!list.empty() || names.empty()) return list;
    list = "its unit masks:";
    for (std::size_t i = 0; i < names.size() && i < kMaxMasksShown; ++i) list += ' ' + names[i];
    return names.size() > kMaxMasksShown ? list + " …" : list;
}

/// The error for a refusal. `longer` is how much longer the prefix that was read is than the typed one.
std::unexpected<ParseError> refusal_error(std::string_view typed, std::size_t longer, const Encoded& encoded) {
    const catalog::Refusal& refusal = encoded.refusal;
    const std::size_t at = std::min<std::size_t>(refusal.at < longer ? 0 : refusal.at - longer, typed.size());
    const std::string_view piece = refusal.length == 0 ? typed : typed.substr(at, refusal.length);
    const bool reason = refusal.reason && *refusal.reason;
    const bool other_mask = refusal.code == catalog::ErrorCode::attribute ||
                            refusal.code == catalog::ErrorCode::umask ||
                            refusal.code == catalog::ErrorCode::feature_combination;
    return parse_error(piece, reason ? refusal.reason : catalog::error_text(static_cast<int>(refusal.code)),
                       other_mask ? masks_for(piece, encoded) : std::string{});
}

}  // namespace

Parsed<std::optional<Match>> from_catalog(const Machine::Data& machine, const Item& item) {
    const std::string_view first = item.parts.front();
    const std::string_view last = item.parts.back();
    if (first.empty() || (item.parts.size() == 2 && last.empty())) return std::nullopt;
    const auto length = static_cast<std::size_t>(last.data() - item.text.data()) + last.size();
    const std::string_view whole = item.text.substr(0, length);
    const catalog::MachinePmus& known = machine.catalog();
    const bool prefixed = whole.find("::") != std::string_view::npos;
    const std::string completed = prefixed ? expand_pmu_prefix(whole) : std::string{};
    const std::string_view text = prefixed ? std::string_view{completed} : whole;
    const Encoded all = encode_text(known, text);
    if (!all.refusal.refused()) return match_each_core_pmu_with_event(machine, all, item, text, item.parts.size());
    if (item.parts.size() > 1 && are_modifiers(last)) {
        // The last part may be modifiers of perf, which are not attributes of the catalog.
        const std::string_view shorter = text.substr(0, text.size() - last.size() - 1);
        const Encoded without = encode_text(known, shorter);
        if (!without.refusal.refused())
            return match_each_core_pmu_with_event(machine, without, item, shorter, item.parts.size() - 1);
    }
    if (all.refusal.code == catalog::ErrorCode::not_found) return std::nullopt;
    return refusal_error(whole, text.size() - whole.size(), all);
}

std::vector<std::string> catalog_event_names(const Machine::Data& machine) {
    std::vector<std::string> names;
    std::vector<const catalog::EventRow*> seen;  // the instances of an uncore box share their events: use the first
    for (const std::uint16_t index : machine.catalog().active_pmus()) {
        const catalog::PmuRow& pmu = catalog::pmus()[index];
        const auto events = machine.catalog().events_of(pmu);
        if (events.begin() == events.end() || std::ranges::find(seen, events.begin()->first) != seen.end()) continue;
        seen.push_back(events.begin()->first);
        for (int next = -1; (next = catalog::next_event(machine.catalog(), pmu, next)) >= 0;)
            if (const auto* event = catalog::event_at(machine.catalog(), pmu, static_cast<std::uint32_t>(next)))
                names.emplace_back(catalog::name_of(*event));
    }
    return names;
}

std::vector<std::string> catalog_pmu_names() {
    std::vector<std::string> names;
    for (const catalog::PmuRow& pmu : catalog::pmus()) names.emplace_back(catalog::text(pmu.name));
    return names;
}

}  // namespace anyperf::events

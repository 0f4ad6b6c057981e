// event_names_encode.cpp: EventNames::encode, and its refusals as people read them.
#include <algorithm>

#include "anyperf/event_names.h"
#include "events/catalog/encoding.h"
#include "events/catalog/text.h"
#include "events/event_names_data.h"
#include "events/near_names.h"

namespace anyperf::events {

namespace {

using catalog::Code;
using catalog::PmuRow;

constexpr std::size_t kMostNamed = 6;  // PMUs in a message

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

std::vector<std::string> attribute_names(const catalog::Request& request) {
    std::vector<std::string> names;
    for (const catalog::MaskRow& mask : catalog::masks(*request.event))
        if (catalog::visible(*request.pmu, mask)) names.emplace_back(catalog::text(mask.name));
    for (const catalog::ModifierRow& modifier : catalog::modifiers(request.pmu->modset))
        if (((request.possible.pmu >> modifier.index) & 1) != 0) names.emplace_back(catalog::text(modifier.name));
    for (const catalog::ModifierRow& modifier : catalog::modifiers(catalog::Modset::perf))
        if (((request.possible.perf >> modifier.index) & 1) != 0) names.emplace_back(catalog::text(modifier.name));
    return names;
}

/// The masks an event needs, or what it takes at all.
std::string alternatives(const catalog::Request& request, std::string_view typed) {
    const std::vector<std::string> names = attribute_names(request);
    if (std::string near = did_you_mean(typed, names); !near.empty()) return near;
    if (names.empty()) return "this event takes no attributes";
    constexpr std::size_t kMostShown = 24;
    const bool cut = names.size() > kMostShown;
    std::vector<std::string> shown(names.begin(),
                                   names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMostShown)));
    return "it takes: " + joined(shown) + (cut ? ", …" : "");
}

std::string unknown_event_fix(const catalog::Machine& machine, const PmuRow* pmu, std::string_view event) {
    return did_you_mean(event, pmu != nullptr ? names_of_events(machine, *pmu) : names_of_actives(machine));
}

std::string unknown_event_cause(std::string_view event, const char* reason) {
    const std::vector<std::string> others = pmus_with_event(event, kMostNamed);
    std::string cause = reason;
    if (!others.empty())
        cause += "; " + joined(others) +
                 (others.size() == kMostNamed ? " and others have"
                  : others.size() == 1        ? " has"
                                              : " have") +
                 " one";
    return cause;
}

Fault unknown_pmu(std::string_view prefix, const char* reason) {
    std::vector<std::string> names;
    for (const PmuRow& pmu : catalog::pmus()) names.emplace_back(catalog::text(pmu.name));
    const std::string near = did_you_mean(prefix, names);
    return {prefix, reason, near.empty() ? "`anyperf list --all` shows every PMU" : near};
}

}  // namespace

std::vector<std::string> names_of_events(const catalog::Machine& machine, const PmuRow& pmu) {
    std::vector<std::string> names;
    for (int index = -1; (index = catalog::next_event(machine, pmu, index)) >= 0;)
        names.emplace_back(catalog::text(catalog::event_at(machine, pmu, static_cast<std::uint32_t>(index))->name));
    return names;
}

std::vector<std::string> names_of_actives(const catalog::Machine& machine) {
    std::vector<std::string> names;
    for (const std::uint16_t index : machine.actives()) {
        const auto more = names_of_events(machine, catalog::pmus()[index]);
        names.insert(names.end(), more.begin(), more.end());
    }
    return names;
}

Fault explain_refusal(const catalog::Machine& machine, std::string_view text, const catalog::Refusal& refusal) {
    const std::size_t at = std::min<std::size_t>(refusal.at, text.size());
    const std::string_view place = text.substr(at, refusal.length);
    catalog::Request request{machine};
    static_cast<void>(catalog::read(text, catalog::Os::perf_ext, request));  // as far as it was understood
    const std::size_t colons = text.find("::");
    if (refusal.code == Code::not_found && request.event == nullptr) {
        if (colons != std::string_view::npos && at == 0 && request.pmu == nullptr)
            return unknown_pmu(place, refusal.reason);
        return {place, unknown_event_cause(place, refusal.reason), unknown_event_fix(machine, request.pmu, place)};
    }
    if (request.event == nullptr || refusal.code == Code::invalid) return {place, refusal.reason, ""};
    if (refusal.code == Code::attribute || refusal.code == Code::umask)
        return {place, refusal.reason,
                alternatives(request, refusal.code == Code::umask ? "" : place.substr(0, place.find('=')))};
    return {place, refusal.reason, ""};
}

std::string with_whole_prefix(std::string_view text) {
    const std::size_t colons = text.find("::");
    const PmuRow* pmu = colons == std::string_view::npos ? nullptr : pmu_called(text.substr(0, colons));
    if (pmu == nullptr) return std::string{text};
    return std::string{catalog::text(pmu->name)} + std::string{text.substr(colons)};
}

namespace {

unsigned plm_of(Levels levels) {
    return (levels.user ? catalog::kPlmUser : 0) | (levels.kernel ? catalog::kPlmKernel : 0) |
           (levels.hypervisor ? catalog::kPlmHypervisor : 0);
}

/// The place in what the user typed, whose prefix may be shorter than the one that was read.
catalog::Refusal moved(catalog::Refusal refusal, std::size_t read_length, std::size_t typed_length) {
    const std::size_t longer = read_length - typed_length;
    if (refusal.at == 0 && refusal.length > longer)
        refusal.length = static_cast<std::uint16_t>(refusal.length - longer);
    else if (refusal.at >= longer)
        refusal.at = static_cast<std::uint16_t>(refusal.at - longer);
    return refusal;
}

}  // namespace

Result<EncodedName> EventNames::encode(std::string_view typed, Levels levels) const {
    const std::string text = with_whole_prefix(typed);
    catalog::Encoding encoding{data_->machine};
    encoding.request.type_optional = true;
    const auto refusal = catalog::encode(text, plm_of(levels), catalog::Os::perf_ext, encoding);
    if (refusal.refused()) {
        Fault fault = explain_refusal(data_->machine, text, refusal);
        const catalog::Refusal place = moved(refusal, text.size(), typed.size());
        fault.at = typed.substr(std::min<std::size_t>(place.at, typed.size()), place.length);
        return std::unexpected(to_error(fault, typed));
    }
    EncodedName encoded;
    const PmuRow& pmu = *encoding.request.pmu;
    encoded.pmu = catalog::text(pmu.name);
    encoded.event = catalog::text(encoding.request.event->name);
    encoded.codes.assign(encoding.codes.codes.begin(),
                         encoding.codes.codes.begin() + static_cast<std::ptrdiff_t>(encoding.codes.count));
    encoded.attr.size = sizeof encoded.attr;
    encoding.perf.apply(encoded.attr);
    encoded.active = data_->machine.active(pmu);
    if (pmu.perf_names != 0) encoded.kernel_pmu = catalog::c_text(pmu.perf_names);
    encoded.type_known = encoding.perf.type_known;
    encoded.cpu = encoding.perf.cpu;
    std::string canonical(catalog::kCanonicalBytes, '\0');
    canonical.resize(encoding.canonical(canonical, &encoded.attr));
    encoded.canonical = canonical;
    return encoded;
}

}  // namespace anyperf::events

// event_names_encode.cpp: EventNames::encode, and its errors for users.
#include <algorithm>

#include "anyperf/event_names.h"
#include "events/catalog/encoding/encoding.h"
#include "events/catalog/text.h"
#include "events/names/event_names_data.h"
#include "events/suggest/near_names.h"

namespace anyperf::events {

namespace {

using catalog::ErrorCode;
using catalog::PmuRow;

constexpr std::size_t kMaxNamed = 6;  // PMUs in one message

std::string joined(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
    return text;
}

/// All attributes that the event takes: masks, modifiers of the PMU, modifiers of perf.
std::vector<std::string> attribute_names(const catalog::Request& request) {
    std::vector<std::string> names;
    for (const catalog::MaskRow& mask : catalog::masks(*request.event))
        if (catalog::model_has(*request.pmu, mask)) names.emplace_back(catalog::name_of(mask));
    for (const catalog::ModifierRow& modifier : catalog::modifiers(request.pmu->modset))
        if (((request.allowed.pmu >> modifier.index) & 1) != 0) names.emplace_back(catalog::text(modifier.name));
    for (const catalog::ModifierRow& modifier : catalog::modifiers(catalog::Modset::perf))
        if (((request.allowed.perf >> modifier.index) & 1) != 0) names.emplace_back(catalog::text(modifier.name));
    return names;
}

/// The attributes that the event takes: those similar to `typed`, or else a list.
std::string alternatives(const catalog::Request& request, std::string_view typed) {
    const std::vector<std::string> names = attribute_names(request);
    if (std::string near = did_you_mean(typed, names); !near.empty()) return near;
    if (names.empty()) return "this event takes no attributes";
    constexpr std::size_t kMaxShown = 24;
    const bool cut = names.size() > kMaxShown;
    std::vector<std::string> shown(names.begin(),
                                   names.begin() + static_cast<std::ptrdiff_t>(std::min(names.size(), kMaxShown)));
    return "it takes: " + joined(shown) + (cut ? ", …" : "");
}

/// Names similar to a wrong one: of the PMU, if its prefix was given, else of all PMUs that this machine has.
std::string unknown_event_fix(const catalog::MachinePmus& machine, const PmuRow* pmu, std::string_view event) {
    return did_you_mean(event, pmu != nullptr ? pmu_event_names(machine, *pmu) : active_event_names(machine));
}

/// The reason, and up to kMaxNamed PMUs that do have an event of that name.
std::string unknown_event_cause(std::string_view event, const char* reason) {
    const std::vector<std::string> others = pmus_with_event(event, kMaxNamed);
    std::string cause = reason;
    if (!others.empty())
        cause += "; " + joined(others) +
                 (others.size() == kMaxNamed ? " and others have"
                  : others.size() == 1       ? " has"
                                             : " have") +
                 " one";
    return cause;
}

/// The prefix may be misspelt, so the names of all PMUs of the catalog are compared, also those of other CPUs.
ParseError unknown_pmu(std::string_view prefix, const char* reason) {
    std::vector<std::string> names;
    for (const PmuRow& pmu : catalog::pmus()) names.emplace_back(catalog::text(pmu.name));
    const std::string near = did_you_mean(prefix, names);
    return {prefix, reason, near.empty() ? "`anyperf list --all` shows every PMU" : near};
}

}  // namespace

std::vector<std::string> pmu_event_names(const catalog::MachinePmus& machine, const PmuRow& pmu) {
    std::vector<std::string> names;
    for (int index = -1; (index = catalog::next_event(machine, pmu, index)) >= 0;)
        names.emplace_back(catalog::name_of(*catalog::event_at(machine, pmu, static_cast<std::uint32_t>(index))));
    return names;
}

std::vector<std::string> active_event_names(const catalog::MachinePmus& machine) {
    std::vector<std::string> names;
    for (const std::uint16_t index : machine.active_pmus()) {
        const auto more = pmu_event_names(machine, catalog::pmus()[index]);
        names.insert(names.end(), more.begin(), more.end());
    }
    return names;
}

// Reads the string once more to find out how much of it was recognised, which decides what to suggest: PMUs, events of
// the PMU, or attributes of the event.
ParseError explain_refusal(const catalog::MachinePmus& machine, std::string_view text,
                           const catalog::Refusal& refusal) {
    const std::size_t at = std::min<std::size_t>(refusal.at, text.size());
    const std::string_view place = text.substr(at, refusal.length);
    catalog::Request request{machine};
    static_cast<void>(catalog::read(text, catalog::Os::perf_ext, request));
    const std::size_t colons = text.find("::");
    if (refusal.code == ErrorCode::not_found && request.event == nullptr) {
        if (colons != std::string_view::npos && at == 0 && request.pmu == nullptr)
            return unknown_pmu(place, refusal.reason);
        return {place, unknown_event_cause(place, refusal.reason), unknown_event_fix(machine, request.pmu, place)};
    }
    if (request.event == nullptr || refusal.code == ErrorCode::invalid) return {place, refusal.reason, ""};
    if (refusal.code == ErrorCode::attribute || refusal.code == ErrorCode::umask)
        return {place, refusal.reason,
                alternatives(request, refusal.code == ErrorCode::umask ? "" : place.substr(0, place.find('=')))};
    return {place, refusal.reason, ""};
}

std::string expand_pmu_prefix(std::string_view text) {
    const std::size_t colons = text.find("::");
    const PmuRow* pmu = colons == std::string_view::npos ? nullptr : resolve_pmu_name(text.substr(0, colons));
    if (pmu == nullptr) return std::string{text};
    return std::string{catalog::text(pmu->name)} + std::string{text.substr(colons)};
}

namespace {

/// As PFM_PLM bits.
unsigned plm_of(Levels levels) {
    return (levels.user ? catalog::kPlmUser : 0) | (levels.kernel ? catalog::kPlmKernel : 0) |
           (levels.hypervisor ? catalog::kPlmHypervisor : 0);
}

/// The refusal with its place in the typed string, whose prefix may be shorter than the prefix that was read. A refusal
/// about the prefix itself begins at 0 and gets shorter; any other one moves to the left.
catalog::Refusal in_typed_string(catalog::Refusal refusal, std::size_t read_length, std::size_t typed_length) {
    const std::size_t longer = read_length - typed_length;
    if (refusal.at == 0 && refusal.length > longer)
        refusal.length = static_cast<std::uint16_t>(refusal.length - longer);
    else if (refusal.at >= longer)
        refusal.at = static_cast<std::uint16_t>(refusal.at - longer);
    return refusal;
}

}  // namespace

// The prefix may be shortened (resolve_pmu_name()), and the catalog reads full names only. So the string that is read
// may be longer than the typed one, and a refusal's place is moved back before it is shown.
Result<EncodedName> EventNames::encode(std::string_view typed, Levels levels) const {
    const std::string text = expand_pmu_prefix(typed);
    catalog::Encoding encoding{data_->machine};
    encoding.request.type_optional = true;
    const auto refusal = catalog::encode(text, plm_of(levels), catalog::Os::perf_ext, encoding);
    if (refusal.refused()) {
        ParseError error = explain_refusal(data_->machine, text, refusal);
        const catalog::Refusal place = in_typed_string(refusal, text.size(), typed.size());
        error.at = typed.substr(std::min<std::size_t>(place.at, typed.size()), place.length);
        return std::unexpected(to_error(error, typed));
    }
    EncodedName encoded;
    const PmuRow& pmu = *encoding.request.pmu;
    encoded.pmu = catalog::text(pmu.name);
    encoded.event = catalog::name_of(*encoding.request.event);
    encoded.codes.assign(encoding.codes.codes.begin(),
                         encoding.codes.codes.begin() + static_cast<std::ptrdiff_t>(encoding.codes.count));
    encoded.attr.size = sizeof encoded.attr;
    encoding.perf.apply(encoded.attr);
    encoded.active = data_->machine.is_active(pmu);
    if (pmu.perf_names != 0) encoded.kernel_pmu = catalog::c_text(pmu.perf_names);
    encoded.type_known = encoding.perf.type_known;
    encoded.cpu = encoding.perf.cpu;
    std::string canonical(catalog::kCanonicalBytes, '\0');
    canonical.resize(encoding.canonical(canonical, &encoded.attr));
    encoded.canonical = canonical;
    return encoded;
}

}  // namespace anyperf::events

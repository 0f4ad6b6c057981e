#include "events/machine/chosen_cpu.h"

#include <algorithm>
#include <vector>

#include "events/catalog/tables.h"
#include "events/machine/cpu_ids.h"
#include "events/names/event_names_data.h"
#include "events/suggest/near_names.h"
#include "events/vendor/whole_match.h"

namespace anyperf::events {

namespace {

using catalog::CpuKind;
using catalog::CpuRule;
using catalog::PmuRow;

catalog::Cpu::Kind kind_of(const CpuRule& rule) {
    return rule.kind == CpuKind::amd ? catalog::Cpu::Kind::amd : catalog::Cpu::Kind::intel;
}

bool is_core(const PmuRow& pmu) {
    return pmu.type == catalog::PmuType::core;
}

/// The identifiers of the PMU's CPUs if these are ARM or POWER. Lists for x86 have no patterns of identifiers but rows
/// of family, model and stepping (vendor::CpuRow).
std::vector<std::string> other_cpu_ids(const PmuRow& pmu) {
    const bool has_ids = std::ranges::any_of(catalog::cpu_rules(pmu), [](const CpuRule& rule) {
        return rule.kind == CpuKind::arm || rule.kind == CpuKind::pvr;
    });
    return has_ids ? cpu_ids(catalog::text(pmu.name)).names : std::vector<std::string>{};
}

/// The first core PMU of the catalog that has a CPU whose identifier matches one of the patterns.
std::string pmu_of_patterns(const std::vector<const char*>& patterns) {
    for (const PmuRow& pmu : catalog::pmus()) {
        if (!is_core(pmu)) continue;
        for (const std::string& id : other_cpu_ids(pmu))
            if (std::ranges::any_of(patterns, [&](const char* each) { return vendor::matches_whole(each, id); }))
                return std::string{catalog::text(pmu.name)};
    }
    return {};
}

/// The first core PMU of the catalog that one of the list's CPUs has. perf's lists and the catalog name CPUs
/// differently; what both know is family, model and stepping, by which a row of one finds the row of the other.
std::string pmu_of(const vendor::ListRow& list) {
    if (const auto patterns = vendor::patterns_of(list); !patterns.empty()) return pmu_of_patterns(patterns);
    for (const PmuRow& pmu : catalog::pmus()) {
        if (!is_core(pmu)) continue;
        for (const CpuRule& rule : catalog::cpu_rules(pmu)) {
            if (rule.kind != CpuKind::intel && rule.kind != CpuKind::amd) continue;
            const catalog::Cpu cpu{.kind = kind_of(rule),
                                   .family = rule.family,
                                   .model = rule.first_model,
                                   .stepping = rule.first_stepping};
            if (vendor::list_of(cpu) == &list) return std::string{catalog::text(pmu.name)};
        }
    }
    return {};
}

/// The list of the first CPU that has the PMU.
const vendor::ListRow* list_of(const PmuRow& pmu) {
    for (const CpuRule& rule : catalog::cpu_rules(pmu)) {
        if (rule.kind != CpuKind::intel && rule.kind != CpuKind::amd) continue;
        const catalog::Cpu cpu{
            .kind = kind_of(rule), .family = rule.family, .model = rule.first_model, .stepping = rule.first_stepping};
        if (const vendor::ListRow* list = vendor::list_of(cpu)) return list;
    }
    for (const std::string& id : other_cpu_ids(pmu))
        if (const vendor::ListRow* list = vendor::list_of_id(id)) return list;
    return nullptr;
}

}  // namespace

Result<ChosenCpu> choose_cpu(std::string_view name) {
    if (const vendor::ListRow* list = vendor::list_called(name)) return ChosenCpu{list, pmu_of(*list)};
    const PmuRow* pmu = resolve_pmu_name(name);
    if (pmu != nullptr && is_core(*pmu)) return ChosenCpu{list_of(*pmu), std::string{catalog::text(pmu->name)}};
    std::vector<std::string> names;
    for (const vendor::ListRow& list : vendor::lists()) names.emplace_back(vendor::text(list.name));
    for (const PmuRow& each : catalog::pmus())
        if (is_core(each)) names.emplace_back(catalog::text(each.name));
    const std::string near = did_you_mean(name, names);
    return std::unexpected(Error{"no CPU is called '" + std::string{name} + "'",
                                 "neither the lists of perf nor the catalog have the name",
                                 near.empty() ? "`anyperf list --all` shows the CPUs of the catalog" : near});
}

}  // namespace anyperf::events

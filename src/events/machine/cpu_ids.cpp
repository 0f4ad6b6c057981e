// cpu_ids.cpp: lists perf's identifiers of the CPUs of a PMU, in the notation of get_cpuid_str() of perf (Linux
// tools/perf/arch/*/util/header.c).
#include "events/machine/cpu_ids.h"

#include <fmt/format.h>

#include <algorithm>

#include "events/catalog/tables.h"

namespace anyperf::events {

namespace {

using catalog::CpuKind;
using catalog::CpuRule;

constexpr unsigned kLastModel = 0xff;
constexpr unsigned kLastStepping = 0xf;

/// Adds the model without a stepping, and with each stepping that the rule allows: mapfile.csv lists CPUs in both
/// forms.
void add_x86(const CpuRule& rule, std::string_view vendor, std::vector<std::string>& names) {
    for (unsigned model = rule.first_model; model <= std::min<unsigned>(rule.last_model, kLastModel); ++model) {
        const std::string name = fmt::format("{}-{}-{:X}", vendor, rule.family, model);
        names.push_back(name);
        for (unsigned step = rule.first_stepping; step <= std::min<unsigned>(rule.last_stepping, kLastStepping); ++step)
            names.push_back(fmt::format("{}-{:X}", name, step));
    }
}

/// The identifiers of the CPUs of one rule; none for rules that do not compare a number.
void add_rule(const CpuRule& rule, std::vector<std::string>& names) {
    switch (rule.kind) {
        case CpuKind::intel: return add_x86(rule, "GenuineIntel", names);
        case CpuKind::amd: return add_x86(rule, "AuthenticAMD", names);
        case CpuKind::arm:  // perf's mapfile.csv has variant and revision 0
            names.push_back(fmt::format("0x00000000{:02x}0f{:03x}0", rule.family, rule.first_model));
            return;
        case CpuKind::pvr: names.push_back(fmt::format("0x{:04x}0000", rule.first_model)); return;
        default: return;
    }
}

}  // namespace

CpuIds cpu_ids(std::string_view pmu_name) {
    CpuIds ids;
    const catalog::PmuRow* pmu = catalog::find_pmu(pmu_name);
    if (pmu == nullptr) return ids;
    for (const CpuRule& rule : catalog::cpu_rules(*pmu)) add_rule(rule, ids.names);
    const std::string_view sysfs_name = catalog::text(pmu->perf_names);
    if (sysfs_name == "cpu_core" || sysfs_name == "cpu_atom") ids.core_type = sysfs_name;
    ids.vendor_names_differ = pmu->encoder == catalog::Encoder::amd64;
    return ids;
}

}  // namespace anyperf::events

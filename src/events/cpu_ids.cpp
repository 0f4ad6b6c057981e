// cpu_ids.cpp: see cpu_ids.h. The forms are those of perf's get_cpuid_str() (linux tools/perf/arch/*/util/header.c).
#include "events/cpu_ids.h"

#include <fmt/format.h>

#include <algorithm>

#include "events/catalog/tables.h"

namespace anyperf::events {

namespace {

using catalog::CpuKind;
using catalog::CpuRule;

constexpr unsigned kMostModels = 0xff;
constexpr unsigned kMostSteppings = 0xf;

/// Without the stepping, and with each that the rule allows: lists have some CPUs with and some without.
void add_x86(const CpuRule& rule, std::string_view vendor, std::vector<std::string>& names) {
    for (unsigned model = rule.first_model; model <= std::min<unsigned>(rule.last_model, kMostModels); ++model) {
        const std::string name = fmt::format("{}-{}-{:X}", vendor, rule.family, model);
        names.push_back(name);
        for (unsigned step = rule.first_stepping; step <= std::min<unsigned>(rule.last_stepping, kMostSteppings);
             ++step)
            names.push_back(fmt::format("{}-{:X}", name, step));
    }
}

void add(const CpuRule& rule, std::vector<std::string>& names) {
    switch (rule.kind) {
        case CpuKind::intel: return add_x86(rule, "GenuineIntel", names);
        case CpuKind::amd: return add_x86(rule, "AuthenticAMD", names);
        case CpuKind::arm:  // variant and revision are 0 in the lists
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
    for (const CpuRule& rule : catalog::cpu_rules(*pmu)) add(rule, ids.names);
    const std::string_view kernels = catalog::text(pmu->perf_names);
    if (kernels == "cpu_core" || kernels == "cpu_atom") ids.core_type = kernels;
    ids.named_otherwise = pmu->encoder == catalog::Encoder::amd64;
    return ids;
}

}  // namespace anyperf::events

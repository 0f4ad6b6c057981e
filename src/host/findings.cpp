// findings.cpp: the finders in the order in which their findings are shown.
#include "host/findings.h"

#include <array>

#include "host/causes/pmu_names.h"
#include "host/findings/finders.h"

namespace anyperf::host {

namespace {

constexpr std::array kFinders{
    findings_of::kernel,           findings_of::kernel_options,   findings_of::paranoid,
    findings_of::capabilities,     findings_of::other_processes,  findings_of::seccomp,
    findings_of::container,        findings_of::user_namespace,   findings_of::lockdown,
    findings_of::security_modules, findings_of::hypervisor,       findings_of::hardware_pmu,
    findings_of::counters,         findings_of::user_space_reads, findings_of::other_pmus,
    findings_of::holders,          findings_of::locked_memory,    findings_of::open_files,
    findings_of::sample_rate,      findings_of::stack_depth,      findings_of::tracefs,
    findings_of::breakpoints,      findings_of::probes,           findings_of::kernel_addresses,
};

}  // namespace

// The facts are read once and passed to all finders, so that the findings agree.
Facts read_facts(const Root& root, const Kernel& kernel) {
    return {root, kernel, privileges(root), container(root), hypervisor(root), causes::core_pmus(root)};
}

std::vector<Finding> findings(const Root& root, const Kernel& kernel) {
    const Facts facts = read_facts(root, kernel);
    std::vector<Finding> all;
    for (const auto find : kFinders)
        if (auto found = find(facts)) all.push_back(*std::move(found));
    return all;
}

}  // namespace anyperf::host

// cpu_checks.cpp: checks of the CPU that an event was to be opened on. In kernel/events/core.c of Linux 6.18,
// perf_event_open() answers ENODEV for an offline CPU (pid -1), and perf_event_alloc() EINVAL for a number that can't
// exist.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "host/causes/checks.h"
#include "host/causes/pmu_names.h"
#include "host/hardware/cpus.h"

namespace anyperf::host::causes {

namespace {

/// Whether a list as sysfs writes it ("0-3,8") has the number.
bool list_has(std::string_view list, int number) {
    const auto cpus = parse_cpu_list(list);
    return cpus && std::ranges::binary_search(*cpus, number);
}

/// Whether a PMU with this file can follow a process: a core PMU, or ARM's SPE, which has a cpumask nevertheless
/// (drivers/perf/arm_spe_pmu.c).
bool follows_tasks(std::string_view pmu, std::string_view file) {
    return file == "cpus" || pmu.starts_with("arm_spe_");
}

/// A list of CPUs in sysfs, "possible" or "online"; empty if it can't be read.
std::string cpus(const Failure& failure, std::string_view which) {
    return failure.root.read("/sys/devices/system/cpu/" + std::string{which}).value_or("");
}

}  // namespace

Found cpu_out_of_range(const Failure& failure) {
    const int cpu = failure.call.cpu;
    const std::string possible = cpus(failure, "possible");
    if (cpu == -1 || possible.empty() || list_has(possible, cpu)) return {};
    return Cause{
        fmt::format("there is no CPU {}: this machine's CPUs are {} (/sys/devices/system/cpu/possible)", cpu, possible),
        fmt::format("use a CPU of {}", cpus(failure, "online"))};
}

Found cpu_offline(const Failure& failure) {
    const int cpu = failure.call.cpu;
    const std::string online = cpus(failure, "online");
    if (cpu < 0 || online.empty() || list_has(online, cpu)) return {};
    return Cause{
        fmt::format("CPU {} is offline; the online CPUs are {} (/sys/devices/system/cpu/online)", cpu, online),
        fmt::format("use a CPU of {}; or as root: echo 1 > /sys/devices/system/cpu/cpu{}/online", online, cpu)};
}

// A core PMU of a hybrid machine has the file `cpus`, an uncore PMU has `cpumask`. A PMU without either counts on every
// CPU. cpu -1 is wrong for an uncore PMU only.
Found cpu_not_served_by_pmu(const Failure& failure) {
    const std::string pmu = pmu_of_type(failure.root, failure.call.attr.type);
    if (pmu.empty()) return {};
    for (const std::string_view file : {"cpus", "cpumask"}) {
        const std::string path = "/sys/bus/event_source/devices/" + pmu + "/" + std::string{file};
        const auto list = failure.root.read(path);
        if (!list || list->empty() || (failure.call.cpu >= 0 && list_has(*list, failure.call.cpu))) continue;
        if (failure.call.cpu < 0 && follows_tasks(pmu, file)) continue;
        return Cause{failure.call.cpu < 0
                         ? fmt::format("the PMU {} counts for the whole machine, not for a process ({})", pmu, path)
                         : fmt::format("the PMU {} counts on the CPUs {} only, not on {} ({})", pmu, *list,
                                       failure.call.cpu, path),
                     fmt::format("count system-wide (-a) on the CPUs {}", *list)};
    }
    return {};
}

}  // namespace anyperf::host::causes

// cpu.cpp: the CPU an event was to be put on. perf_event_open(2): CPUs are numbered from 0; an offline one answers
// ENODEV, one that can't exist EINVAL (find_get_context, kernel/events/core.c).
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "host/causes/checks.h"
#include "host/causes/pmus.h"
#include "host/cpus.h"

namespace anyperf::host::causes {

namespace {

/// Whether a list as sysfs writes it ("0-3,8") has the number.
bool list_has(std::string_view list, int number) {
    const auto cpus = parse_cpu_list(list);
    return cpus && std::ranges::binary_search(*cpus, number);
}

std::string cpus(const Failure& failure, std::string_view which) {
    return failure.root.read("/sys/devices/system/cpu/" + std::string{which}).value_or("");
}

}  // namespace

Found cpu_out_of_range(const Failure& failure) {
    const int cpu = failure.call.cpu;
    const std::string possible = cpus(failure, "possible");
    if (cpu == -1 || possible.empty() || list_has(possible, cpu)) return {};
    return Cause{
        fmt::format("there is no CPU {}: this machine's are {} (/sys/devices/system/cpu/possible)", cpu, possible),
        fmt::format("CPUs of {}", cpus(failure, "online"))};
}

Found cpu_offline(const Failure& failure) {
    const int cpu = failure.call.cpu;
    const std::string online = cpus(failure, "online");
    if (cpu < 0 || online.empty() || list_has(online, cpu)) return {};
    return Cause{fmt::format("CPU {} is offline: those online are {} (/sys/devices/system/cpu/online)", cpu, online),
                 fmt::format("CPUs of {}; or as root: echo 1 > /sys/devices/system/cpu/cpu{}/online", online, cpu)};
}

// Hybrid core PMUs have `cpus`, uncore PMUs `cpumask`.
Found cpu_not_of_pmu(const Failure& failure) {
    const std::string pmu = pmu_of_type(failure.root, failure.call.attr.type);
    if (pmu.empty()) return {};
    for (const std::string_view file : {"cpus", "cpumask"}) {
        const std::string path = "/sys/bus/event_source/devices/" + pmu + "/" + std::string{file};
        const auto list = failure.root.read(path);
        if (!list || list->empty() || (failure.call.cpu >= 0 && list_has(*list, failure.call.cpu))) continue;
        if (failure.call.cpu < 0 && file == "cpus") continue;  // a core PMU's event may follow a process
        return Cause{failure.call.cpu < 0
                         ? fmt::format("the PMU {} counts for the whole machine, not for a process ({})", pmu, path)
                         : fmt::format("the PMU {} counts on the CPUs {} only, not on {} ({})", pmu, *list,
                                       failure.call.cpu, path),
                     fmt::format("count system-wide (-a) on the CPUs {}", *list)};
    }
    return {};
}

}  // namespace anyperf::host::causes

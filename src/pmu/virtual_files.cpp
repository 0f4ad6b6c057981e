// virtual_files.cpp: one row for each PMU and one for each field of a PMU's format/ directory. There are the files that
// perf, libpfm4 and PAPI look for. A file without effect says what it says on a kernel where its feature is off.
#include "pmu/virtual_files.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "abi/event_ids.h"
#include "pmu/cpu/cpu_events.h"
#include "pmu/cpu/identity.h"

namespace anyperf::pmu {
namespace {

constexpr std::string_view kDevices = "/sys/devices";
constexpr std::string_view kBus = "/sys/bus/event_source/devices";

struct PmuRow {
    std::string_view name;
    std::uint32_t type;  ///< attr.type
};
constexpr std::array kPmus{
    PmuRow{"breakpoint", abi::kTypeBreakpoint}, PmuRow{"cpu", abi::kTypeRaw},  PmuRow{"software", abi::kTypeSoftware},
    PmuRow{"tracepoint", abi::kTypeTracepoint}, PmuRow{"uprobe", kTypeUprobe},
};

/// A file of format/: which bits of the attr a term of an event string sets. The cpu PMU has the terms of a Skylake
/// without TSX (so no in_tx and in_tx_cp); uprobe has those of Linux 6.18.
struct FormatRow {
    std::string_view pmu, name, bits;
};
constexpr std::array kFormats{
    FormatRow{"cpu", "any", "config:21"},
    FormatRow{"cpu", "cmask", "config:24-31"},
    FormatRow{"cpu", "edge", "config:18"},
    FormatRow{"cpu", "event", "config:0-7"},
    FormatRow{"cpu", "frontend", "config1:0-23"},
    FormatRow{"cpu", "inv", "config:23"},
    FormatRow{"cpu", "ldlat", "config1:0-15"},
    FormatRow{"cpu", "offcore_rsp", "config1:0-63"},
    FormatRow{"cpu", "pc", "config:19"},
    FormatRow{"cpu", "umask", "config:8-15"},
    FormatRow{"uprobe", "ref_ctr_offset", "config:32-63"},
    FormatRow{"uprobe", "retprobe", "config:0"},
};

/// Adds a file of a PMU.
void put(VirtualTree& tree, std::string_view pmu, std::string_view name, std::string content, bool writable = false) {
    tree.files.push_back({fmt::format("{}/{}/{}", kDevices, pmu, name), std::move(content), writable});
}

/// The content of a file in events/, as the kernel prints it: "event=0x3c,umask=0x01". Fields of 0 are left out. No
/// event here needs another field of config.
std::string event_terms(std::uint64_t config, std::string_view others = {}) {
    std::string terms = fmt::format("event=0x{:02x}", config & 0xff);
    if (const std::uint64_t umask = config >> 8 & 0xff; umask != 0) terms += fmt::format(",umask=0x{:02x}", umask);
    if (const std::uint64_t cmask = config >> 24 & 0xff; cmask != 0) terms += fmt::format(",cmask={}", cmask);
    return fmt::format("{}{}\n", terms, others);
}

void put_cpu(VirtualTree& tree, const VirtualFileSettings& settings) {
    for (const GenericRow& row : kGenericEvents)
        if (!row.sysfs_name.empty())
            put(tree, "cpu", fmt::format("events/{}", row.sysfs_name), event_terms(row.config));
    for (const SysfsEventRow& row : kSysfsEvents)
        put(tree, "cpu", fmt::format("events/{}", row.name), event_terms(row.config, row.terms));
    if (settings.branch_entries != 0) put(tree, "cpu", "caps/branches", fmt::format("{}\n", settings.branch_entries));
    // Linux has no such file. `anyperf stat` and `anyperf list` in a run read it, to name the machine of modelled
    // counts.
    if (!settings.modelled_machine.empty())
        put(tree, "cpu", "caps/modelled_machine", fmt::format("{}\n", settings.modelled_machine));
    put(tree, "cpu", "caps/max_precise", fmt::format("{}\n", kMaxPrecise));
    put(tree, "cpu", "caps/pmu_name", fmt::format("{}\n", kPmuName));
    put(tree, "cpu", "rdpmc", "1\n", true);  // a thread reads its own mapped events
}

// Their owner may write all of them, as root may write the kernel's.
void put_sysctls(VirtualTree& tree, const Sysctls& sysctls) {
    const auto sysctl = [&tree](std::string_view name, auto value) {
        tree.files.push_back({fmt::format("/proc/sys/kernel/{}", name), fmt::format("{}\n", value), true});
    };
    sysctl("perf_event_paranoid", sysctls.perf_event_paranoid);
    sysctl("perf_event_max_sample_rate", sysctls.perf_event_max_sample_rate);
    sysctl("perf_event_max_stack", sysctls.perf_event_max_stack);
    sysctl("perf_event_max_contexts_per_stack", sysctls.perf_event_max_contexts_per_stack);
    sysctl("perf_event_mlock_kb", sysctls.perf_event_mlock_kb);
    sysctl("perf_cpu_time_max_percent", sysctls.perf_cpu_time_max_percent);
    sysctl("nmi_watchdog", 0);  // off: the watchdog occupies a counter
}

}  // namespace

VirtualTree virtual_files(const VirtualFileSettings& settings) {
    VirtualTree tree;
    for (const PmuRow& row : kPmus) {
        tree.links.push_back({fmt::format("{}/{}", kBus, row.name), fmt::format("../../../devices/{}", row.name)});
        tree.links.push_back({fmt::format("{}/{}/subsystem", kDevices, row.name), "../../bus/event_source"});
        put(tree, row.name, "type", fmt::format("{}\n", row.type));
        put(tree, row.name, "uevent", "", true);
        put(tree, row.name, "perf_event_mux_interval_ms", fmt::format("{}\n", settings.mux_interval_ms), true);
    }
    for (const FormatRow& row : kFormats)
        put(tree, row.pmu, fmt::format("format/{}", row.name), fmt::format("{}\n", row.bits));
    put_cpu(tree, settings);
    put_sysctls(tree, settings.sysctls);
    return tree;
}

}  // namespace anyperf::pmu

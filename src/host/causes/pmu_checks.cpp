// pmu_checks.cpp: checks of the PMU that an event is for: whether the machine has it, whether it knows the event, and
// whether it has a free counter.
//
// A missing hardware PMU is by far the most frequent cause. So its message says why the PMU is missing (because of the
// hypervisor, or unknown), what can be counted without it, and how the owner of the hypervisor changes that. What the
// reader can do at once comes first, because few own their hypervisor.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/causes/attr_bits.h"
#include "host/causes/checks.h"
#include "host/causes/pmu_names.h"
#include "host/hardware/cpu_counters.h"
#include "host/hardware/hypervisor.h"
#include "host/kernel/sysctl.h"
#include "host/process/event_holders.h"

namespace anyperf::host::causes {

namespace {

/// The PMU of the call, for a message: "the PMU uncore_imc_0", "the CPU's PMU (cpu_core, cpu_atom)".
std::string pmu_named(const Failure& failure) {
    const auto type = failure.call.attr.type;
    const std::string name = pmu_of_type(failure.root, type);
    if (!name.empty()) return fmt::format("the PMU {}", name);
    const auto cores = core_pmus(failure.root);
    return for_core_pmu(failure.call.attr.type) && !cores.empty()
               ? fmt::format("the CPU's PMU ({})", fmt::join(cores, ", "))
               : fmt::format("the PMU of type {}", type);
}

}  // namespace

Found no_hardware_pmu(const Failure& failure) {
    if (!for_core_pmu(failure.call.attr.type) || !core_pmus(failure.root).empty() ||
        !failure.root.exists("/sys/bus/event_source/devices"))
        return {};
    const std::string absent =
        fmt::format("this machine has no hardware PMU: /sys/bus/event_source/devices has no cpu (it has: {})",
                    pmus_listed(failure.root));
    const Hypervisor below = hypervisor(failure.root);
    const std::string now =
        std::string{is_x86(failure.root)
                        ? "count a command in user space: anyperf stat -- COMMAND (no privilege needed); "
                        : ""} +
        "software events (task-clock, page-faults …) and tracepoints need no PMU";
    if (!below.present)
        return Cause{absent + ", and there is no sign of a hypervisor",
                     now +
                         "; if the machine should have a PMU: look for 'Performance Events' in the kernel log (dmesg), "
                         "for a PMU setting in the firmware, and for nopmu or nolapic on the kernel's command line"};
    const std::string expose{below.kind != nullptr ? below.kind->expose_pmu
                                                   : "let the hypervisor expose a virtual PMU"};
    return Cause{fmt::format("{}; it is a virtual machine under {}, which exposes none ({})", absent, below.name(),
                             below.evidence),
                 fmt::format("{}; for a hardware PMU: {}", now, expose)};
}

Found no_such_type(const Failure& failure) {
    const auto type = failure.call.attr.type;
    if (for_core_pmu(failure.call.attr.type) || !failure.root.exists("/sys/bus/event_source/devices") ||
        !pmu_of_type(failure.root, type).empty())
        return {};
    return Cause{
        fmt::format("no PMU of this machine has type {}: there are {} (/sys/bus/event_source/devices/*/type)", type,
                    pmus_listed(failure.root)),
        "read the type from that file each time, it can change at boot; the PMU's module may have to be loaded"};
}

Found no_such_software_event(const Failure& failure) {
    const auto& attr = failure.call.attr;
    if (attr.type != abi::kTypeSoftware || attr.config < abi::kSoftware.size()) return {};
    return Cause{
        fmt::format("there is no software event {}: they are numbered 0 to {}", attr.config, abi::kSoftware.size() - 1),
        "anyperf list sw shows them"};
}

// A uprobe gets ENOENT because the kernel looks up its path when the event is opened. On another machine the path can't
// be checked.
Found probe_target_absent(const Failure& failure) {
    if (pmu_of_type(failure.root, failure.call.attr.type) != "uprobe" || failure.call.attr.config1 == 0) return {};
    if (!failure.can_retry()) return {};
    return Cause{"the file or function that the probe names does not exist",
                 "give the path of an existing program or library, as this process sees it"};
}

// The last check for ENOENT: the PMU exists, so the cause is that it does not have the event.
Found event_unknown_to_pmu(const Failure& failure) {
    if (failure.call.attr.type == abi::kTypeSoftware || failure.call.attr.type == abi::kTypeTracepoint) return {};
    const auto type = failure.call.attr.type;
    if (for_core_pmu(failure.call.attr.type) ? core_pmus(failure.root).empty()
                                             : pmu_of_type(failure.root, type).empty())
        return {};
    return Cause{
        fmt::format("{} exists, but has no event with config {:#x}", pmu_named(failure), failure.call.attr.config),
        "not every CPU has every generic event; the vendor's names are those of events that it has: anyperf list "
        "catalog"};
}

Found pmu_in_exclusive_use(const Failure& failure) {
    const std::string holders = describe(event_holders(failure.root));
    if (holders.empty()) return {};
    return Cause{
        fmt::format("{} is in exclusive use; processes that have events open: {}", pmu_named(failure), holders),
        "end the other measurement, or wait until it ends"};
}

Found breakpoint_slots_used_up(const Failure& failure) {
    if (failure.call.attr.type != abi::kTypeBreakpoint) return {};
    const std::string holders = describe(event_holders(failure.root));
    return Cause{
        fmt::format("all hardware breakpoints of the {} are in use (x86 has four for each task and CPU, shared by "
                    "events, debuggers and inherited events){}{}",
                    failure.call.pid == -1 ? "CPU" : "task",
                    holders.empty() ? "" : "; processes that have events open: ", holders),
        "close other breakpoint events or the debugger's watchpoints; one event can watch up to eight bytes"};
}

// ENOSPC certainly means the group only if the event opens without it.
Found no_counter_left_for_group(const Failure& failure) {
    if (failure.call.group_fd == -1 || !failure.can_retry()) return {};
    OpenCall alone = failure.call;
    alone.group_fd = -1;
    if (failure.kernel.try_open(alone) != 0) return {};
    const bool watchdog =
        kernel_setting(failure.root, "nmi_watchdog").value_or(0) == 1 && for_core_pmu(failure.call.attr.type);
    return Cause{
        fmt::format("{} opens alone but not in this group: the PMU has no counter left for it{}", failure.event,
                    watchdog ? ", and the NMI watchdog holds one (kernel.nmi_watchdog is 1)" : ""),
        watchdog ? "use fewer events in the group; or as root: sysctl kernel.nmi_watchdog=0"
                 : "use fewer events in the group"};
}

Found uprobe_shared_with_ftrace(const Failure& failure) {
    const std::string pmu = pmu_of_type(failure.root, failure.call.attr.type);
    if (pmu != "uprobe" && failure.call.attr.type != abi::kTypeTracepoint) return {};
    return Cause{"this probe is already in use by ftrace, and a uprobe can't serve both",
                 "disable it in tracefs (echo 0 > events/uprobes/NAME/enable), then open it"};
}

}  // namespace anyperf::host::causes

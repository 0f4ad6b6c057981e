// pmu.cpp: the PMU that an event is for: is it there, does it know the event, is there room on it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "host/causes/attr_bits.h"
#include "host/causes/checks.h"
#include "host/causes/pmus.h"
#include "host/event_holders.h"
#include "host/hypervisor.h"
#include "host/sysctl.h"

namespace anyperf::host::causes {

namespace {

/// The PMU as users know it: "cpu (type 4)".
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
        fmt::format("this machine has no hardware PMU: /sys/bus/event_source/devices has no cpu (there are: {})",
                    pmus_listed(failure.root));
    const Hypervisor below = hypervisor(failure.root);
    constexpr std::string_view kMeanwhile = "software events (task-clock, page-faults …) and tracepoints count here";
    if (!below.present)
        return Cause{absent + ", though it is no virtual machine that shows",
                     fmt::format("look for 'Performance Events' in the kernel log (dmesg), for a PMU setting in the "
                                 "firmware, and for nopmu, nolapic on the kernel's command line; meanwhile {}",
                                 kMeanwhile)};
    const std::string expose{below.kind != nullptr ? below.kind->expose_pmu
                                                   : "let the hypervisor expose a virtual PMU"};
    return Cause{fmt::format("{}; it is a virtual machine under {} that exposes none ({})", absent, below.name(),
                             below.evidence),
                 fmt::format("{}; meanwhile {}", expose, kMeanwhile)};
}

Found no_such_type(const Failure& failure) {
    const auto type = failure.call.attr.type;
    if (for_core_pmu(failure.call.attr.type) || !failure.root.exists("/sys/bus/event_source/devices") ||
        !pmu_of_type(failure.root, type).empty())
        return {};
    return Cause{fmt::format("no PMU of this machine has type {}: there are {} (/sys/bus/event_source/devices/*/type)",
                             type, pmus_listed(failure.root)),
                 "take the type from the PMU's own file, it differs from boot to boot; a module may have to be loaded"};
}

Found no_such_software_event(const Failure& failure) {
    const auto& attr = failure.call.attr;
    if (attr.type != abi::kTypeSoftware || attr.config < abi::kSoftware.size()) return {};
    return Cause{fmt::format("there is no software event {}: the kernel's are numbered 0 to {}", attr.config,
                             abi::kSoftware.size() - 1),
                 "anyperf list sw shows them"};
}

Found probe_target_absent(const Failure& failure) {
    if (pmu_of_type(failure.root, failure.call.attr.type) != "uprobe" || failure.call.attr.config1 == 0) return {};
    if (!failure.can_retry()) return {};
    return Cause{"the file or function that the probe names does not exist",
                 "give the path of an existing program or library, as this process sees it"};
}

Found event_unknown_to_pmu(const Failure& failure) {
    if (failure.call.attr.type == abi::kTypeSoftware || failure.call.attr.type == abi::kTypeTracepoint) return {};
    const auto type = failure.call.attr.type;
    if (for_core_pmu(failure.call.attr.type) ? core_pmus(failure.root).empty()
                                             : pmu_of_type(failure.root, type).empty())
        return {};
    return Cause{
        fmt::format("{} is there, but has no event with config {:#x}", pmu_named(failure), failure.call.attr.config),
        "not every CPU has every generic event: anyperf list shows those that open here"};
}

Found pmu_in_exclusive_use(const Failure& failure) {
    const std::string holders = describe(event_holders(failure.root));
    if (holders.empty()) return {};
    return Cause{
        fmt::format("{} is in exclusive use; processes that have events open: {}", pmu_named(failure), holders),
        "end the other measurement, or wait for it"};
}

Found breakpoint_slots_used_up(const Failure& failure) {
    if (failure.call.attr.type != abi::kTypeBreakpoint) return {};
    const std::string holders = describe(event_holders(failure.root));
    return Cause{
        fmt::format("all hardware breakpoints of the {} are taken (x86 has four for each task and CPU, shared by "
                    "events, debuggers and inherited events){}{}",
                    failure.call.pid == -1 ? "CPU" : "task",
                    holders.empty() ? "" : "; processes that have events open: ", holders),
        "close other breakpoint events or the debugger's watchpoints; one event may watch up to eight bytes"};
}

Found no_room_on_pmu(const Failure& failure) {
    if (failure.call.group_fd == -1 || !failure.can_retry()) return {};
    OpenCall alone = failure.call;
    alone.group_fd = -1;
    if (failure.kernel.try_open(alone) != 0) return {};
    const bool watchdog =
        kernel_setting(failure.root, "nmi_watchdog").value_or(0) == 1 && for_core_pmu(failure.call.attr.type);
    return Cause{
        fmt::format("{} opens alone but not in this group: the PMU has no counter left for it{}", failure.event,
                    watchdog ? ", and the NMI watchdog holds one (kernel.nmi_watchdog is 1)" : ""),
        watchdog ? "fewer events in the group; or as root: sysctl kernel.nmi_watchdog=0" : "fewer events in the group"};
}

Found uprobe_shared_with_ftrace(const Failure& failure) {
    const std::string pmu = pmu_of_type(failure.root, failure.call.attr.type);
    if (pmu != "uprobe" && failure.call.attr.type != abi::kTypeTracepoint) return {};
    return Cause{"this probe is already in use by ftrace, and a uprobe can't serve both",
                 "switch it off in tracefs (echo 0 > events/uprobes/NAME/enable), then open it"};
}

}  // namespace anyperf::host::causes

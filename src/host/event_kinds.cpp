// event_kinds.cpp: asks usability() about one example event of each kind. Every kernel that has the kind has the
// example, so a refusal concerns the kind and not the event.
#include <unistd.h>

#include <array>
#include <charconv>

#include "abi/attr_flags.h"
#include "abi/attr_sizes.h"
#include "host/causes/attr_bits.h"
#include "host/kernel/sysctl.h"
#include "host/process/privileges.h"
#include "host/usability.h"

namespace anyperf::host {

namespace {

/// An event of the calling process with nothing but type and config, and with the oldest size of attr.
OpenCall plain(std::uint32_t type, std::uint64_t config) {
    OpenCall call;
    call.attr.type = type;
    call.attr.config = config;
    call.attr.size = abi::kAttrSizes.front().bytes;
    call.attr.flags = abi::flag("disabled");
    return call;
}

Usability hardware(const Root& root, const Kernel& kernel) {
    return usability(plain(abi::kTypeHardware, 0), "cycles", root, kernel);
}

Usability software(const Root& root, const Kernel& kernel) {
    return usability(plain(abi::kTypeSoftware, 2), "page-faults", root, kernel);
}

/// Context switches and migrations happen in kernel mode only, so the right to count kernel mode is needed.
Usability scheduler(const Root& root, const Kernel& kernel) {
    return usability(plain(abi::kTypeSoftware, abi::kKernelOnlySoftware.front().value), "context-switches", root,
                     kernel);
}

/// sched_switch: every kernel with tracepoints has it.
Usability tracepoint(const Root& root, const Kernel& kernel) {
    for (const std::string_view place : {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"})
        if (const auto number = number_in(root, std::string{place} + "/events/sched/sched_switch/id"))
            return usability(plain(abi::kTypeTracepoint, static_cast<std::uint64_t>(*number)), "sched:sched_switch",
                             root, kernel);
    const bool closed =
        ::access(root.path("/sys/kernel/tracing").c_str(), X_OK) != 0 && root.exists("/sys/kernel/tracing");
    return {closed ? Use::needs_privilege : Use::no_tracefs,
            {"cannot look up sched:sched_switch", "its number can't be read from tracefs (/sys/kernel/tracing/events)",
             "as root: mount -t tracefs tracefs /sys/kernel/tracing (see the finding tracefs)"}};
}

/// A breakpoint on a variable of this process, whose address is valid wherever the call is tried.
Usability breakpoint(const Root& root, const Kernel& kernel) {
    static const long watched = 0;
    OpenCall call = plain(abi::kTypeBreakpoint, 0);
    call.attr.bp_type = causes::kBreakpointWrite;
    call.attr.config1 = reinterpret_cast<std::uintptr_t>(&watched);
    call.attr.config2 = sizeof watched;
    call.attr.size = abi::published_size(80);
    return usability(call, "mem:ADDRESS:w", root, kernel);
}

/// A uprobe is judged by the rights that it needs and is not opened: that would change code that other processes run.
Usability uprobe(const Root& root, const Kernel& kernel) {
    if (Usability any = software(root, kernel); any.use == Use::blocked || any.use == Use::unknown) return any;
    if (!number_in(root, "/sys/bus/event_source/devices/uprobe/type"))
        return {Use::no_pmu,
                {"cannot open a uprobe", "/sys/bus/event_source/devices/uprobe does not exist",
                 "boot a kernel built with CONFIG_UPROBE_EVENTS=y"}};
    const Privileges rights = privileges(root);
    if (rights.has_perfmon()) return {};
    return {
        Use::needs_privilege,
        {"cannot open a uprobe", "probes need CAP_PERFMON at every paranoid level; this process is " + describe(rights),
         "run as root or with the capability"}};
}

// The first online CPU: number_in() reads the beginning of a list such as "0-7".
Usability whole_cpus(const Root& root, const Kernel& kernel) {
    OpenCall call = plain(abi::kTypeSoftware, 2);
    call.pid = -1;
    call.cpu = static_cast<int>(number_in(root, "/sys/devices/system/cpu/online").value_or(0));
    return usability(call, "page-faults", root, kernel);
}

/// A kind of events and its judge.
struct Way {
    std::string_view id;
    std::string_view title;
    std::string_view examples;
    Usability (*judge)(const Root&, const Kernel&);
};

constexpr std::array kWays{
    Way{"hardware", "hardware events", "cycles, instructions, branches, cache misses", hardware},
    Way{"software", "software events", "task-clock, page-faults", software},
    Way{"scheduler", "scheduler events", "context-switches, cpu-migrations", scheduler},
    Way{"tracepoint", "tracepoints", "sched:sched_switch, syscalls:*", tracepoint},
    Way{"breakpoint", "breakpoints", "mem:ADDRESS:rw", breakpoint},
    Way{"uprobe", "uprobes", "uprobe:PATH:SYMBOL", uprobe},
    Way{"cpu-wide", "whole CPUs", "-a, -C", whole_cpus},
};

}  // namespace

std::vector<WayToMeasure> ways_to_measure(const Root& root, const Kernel& kernel) {
    std::vector<WayToMeasure> ways;
    ways.reserve(kWays.size());
    for (const Way& way : kWays) ways.push_back({way.id, way.title, way.examples, way.judge(root, kernel)});
    return ways;
}

}  // namespace anyperf::host

// rights_checks.cpp: checks that compare the rights an event needs with those that the process has. Kernel side:
// perf_copy_attr() and perf_event_open() in kernel/events/core.c, perf_trace_event_perm() in
// kernel/trace/trace_event_perf.c, Linux 6.18.
//
// What a process without CAP_PERFMON may measure at each level of kernel.perf_event_paranoid: at 2 its own user's
// processes in user mode; at 1 also kernel mode; at 0 also whole CPUs; at -1 also tracepoint data. Some rights need a
// capability at every level.
#include <fmt/format.h>

#include "host/causes/attr_bits.h"
#include "host/causes/checks.h"
#include "host/kernel/sysctl.h"
#include "host/kernel/tracefs.h"
#include "host/process/container.h"
#include "host/process/gain_rights.h"

namespace anyperf::host::causes {

namespace {

/// The paranoid level with its file, as evidence. If it can't be read, it is taken to be 2, the kernel's default.
std::string level(const Failure& failure) {
    return fmt::format("kernel.perf_event_paranoid is {} (/proc/sys/kernel/perf_event_paranoid)",
                       failure.privileges.paranoid.value_or(2));
}

/// How the process gets the right that paranoid level `needed` gives to every process.
std::string gain_rights(const Failure& failure, int needed) {
    return how_to_gain_rights(failure.privileges, container(failure.root), needed);
}

/// What to type to count user mode only, as the beginning of a fix. Empty if that would leave nothing to count.
std::string in_user_mode(const Failure& failure) {
    const auto& attr = failure.call.attr;
    if (failure.has_flag(kExcludeUser) || !happens_in_user_mode(attr, failure.event, failure.root)) return "";
    return fmt::format("count user mode only: {}{}; or ", failure.event, failure.event.ends_with('/') ? "u" : ":u");
}

/// Whether the event is opened through the PMUs uprobe or kprobe. Their types are assigned at boot.
bool is_probe(const Failure& failure) {
    for (const std::string_view pmu : {"uprobe", "kprobe"})
        if (number_in(failure.root, "/sys/bus/event_source/devices/" + std::string{pmu} + "/type") ==
            static_cast<long long>(failure.call.attr.type))
            return true;
    return false;
}

}  // namespace

Found namespaces_need_privilege(const Failure& failure) {
    if (!failure.has_flag(kNamespaces) || failure.privileges.has_perfmon()) return {};
    return Cause{
        "attr.namespaces records what other users' processes do, which needs CAP_PERFMON at every paranoid "
        "level; this process is " +
            describe(failure.privileges),
        "leave attr.namespaces out, or " + gain_rights(failure, 2)};
}

Found kernel_needs_privilege(const Failure& failure) {
    if (failure.has_flag(kExcludeKernel) || failure.privileges.may_measure_kernel()) return {};
    if (cpu_wide_needs_privilege(failure)) return {};  // needs more rights, and is a check of its own
    return Cause{fmt::format("{} counts kernel mode too, but {} and this process is {}: it may count user mode only",
                             failure.event, level(failure), describe(failure.privileges)),
                 in_user_mode(failure) + gain_rights(failure, 1)};
}

Found physical_addresses_need_privilege(const Failure& failure) {
    if ((failure.call.attr.sample_type & kSamplePhysAddr) == 0 || failure.privileges.may_measure_kernel()) return {};
    return Cause{fmt::format("samples with physical addresses were requested, but {} and this process is {}",
                             level(failure), describe(failure.privileges)),
                 "leave PERF_SAMPLE_PHYS_ADDR out, or " + gain_rights(failure, 1)};
}

Found kernel_branches_need_privilege(const Failure& failure) {
    const auto& attr = failure.call.attr;
    if ((attr.sample_type & kSampleBranchStack) == 0 || (attr.branch_sample_type & kBranchKernelOrHv) == 0 ||
        failure.privileges.may_measure_kernel())
        return {};
    return Cause{fmt::format("samples with the kernel's branches were requested, but {} and this process is {}",
                             level(failure), describe(failure.privileges)),
                 "request user-mode branches only (branch filter u), or " + gain_rights(failure, 1)};
}

Found probe_needs_privilege(const Failure& failure) {
    if (!is_probe(failure) || failure.privileges.has_perfmon()) return {};
    return Cause{
        "opening a probe changes code that others run, which needs CAP_PERFMON at every paranoid level; this "
        "process is " +
            describe(failure.privileges),
        gain_rights(failure, 2)};
}

Found cpu_wide_needs_privilege(const Failure& failure) {
    const bool cgroup = (failure.call.flags & kPidCgroup) != 0;
    if ((failure.call.pid != -1 && !cgroup) || failure.privileges.may_measure_cpus()) return {};
    return Cause{fmt::format("counting {} observes every user's processes, but {} and this process is {}",
                             cgroup ? "a cgroup" : "a whole CPU", level(failure), describe(failure.privileges)),
                 "count your own command or process instead, or " + gain_rights(failure, 0)};
}

Found raw_tracepoint_needs_privilege(const Failure& failure) {
    const auto& attr = failure.call.attr;
    if (attr.type != abi::kTypeTracepoint || (attr.sample_type & kSampleRaw) == 0 ||
        failure.privileges.may_read_tracepoint_data())
        return {};
    return Cause{
        fmt::format(
            "samples with the tracepoint's data (PERF_SAMPLE_RAW) were requested, but {} and this process is {}",
            level(failure), describe(failure.privileges)),
        "count the tracepoint, or sample it without its data; or " + gain_rights(failure, -1)};
}

Found kernel_breakpoint_needs_privilege(const Failure& failure) {
    const auto& attr = failure.call.attr;
    if (attr.type != abi::kTypeBreakpoint || (attr.config1 >> 63) == 0 || failure.privileges.has(Capability::sys_admin))
        return {};
    return Cause{
        fmt::format("the breakpoint's address {:#x} is in the kernel, which needs CAP_SYS_ADMIN; this process is {}",
                    attr.config1, describe(failure.privileges)),
        "set it as root, or use an address of the program"};
}

// security_locked_down(LOCKDOWN_PERF): register contents could leak data that the lockdown protects.
Found lockdown_forbids_registers(const Failure& failure) {
    if ((failure.call.attr.sample_type & kSampleRegsIntr) == 0) return {};
    if (!locked_down(failure.root)) return {};
    return Cause{
        "samples with registers at the interrupt were requested, but the kernel is locked down "
        "(/sys/kernel/security/lockdown: [confidentiality])",
        "leave PERF_SAMPLE_REGS_INTR out, or boot without lockdown=confidentiality"};
}

}  // namespace anyperf::host::causes

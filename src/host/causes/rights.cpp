// rights.cpp: rights that an event needs, compared with those that the process has. kernel/events/core.c
// (perf_event_open, perf_copy_attr), kernel/trace/trace_event_perf.c (perf_trace_event_perm), Linux 6.18.
#include <fmt/format.h>

#include "host/causes/attr_bits.h"
#include "host/causes/checks.h"
#include "host/container.h"
#include "host/raise_rights.h"
#include "host/sysctl.h"

namespace anyperf::host::causes {

namespace {

std::string level(const Failure& failure) {
    return fmt::format("kernel.perf_event_paranoid is {} (/proc/sys/kernel/perf_event_paranoid)",
                       failure.privileges.paranoid.value_or(2));
}

std::string raise_rights(const Failure& failure, int needed) {
    return how_to_raise(failure.privileges, container(failure.root), needed);
}

/// What to type to count user mode only; nothing where that would leave nothing to count.
std::string in_user_mode(const Failure& failure) {
    const auto& attr = failure.call.attr;
    if (failure.has(kExcludeUser) || !abi::happens_in_user_mode(attr.type, attr.config, failure.event)) return "";
    return fmt::format("count user mode only: {}{}; or ", failure.event, failure.event.ends_with('/') ? "u" : ":u");
}

bool is_probe(const Failure& failure) {
    for (const std::string_view pmu : {"uprobe", "kprobe"})
        if (number_in(failure.root, "/sys/bus/event_source/devices/" + std::string{pmu} + "/type") ==
            static_cast<long long>(failure.call.attr.type))
            return true;
    return false;
}

}  // namespace

Found namespaces_need_privilege(const Failure& failure) {
    if (!failure.has(kNamespaces) || failure.privileges.perfmon()) return {};
    return Cause{
        "attr.namespaces records what other users' processes do, which needs CAP_PERFMON whatever the paranoid "
        "level; this process is " +
            describe(failure.privileges),
        "leave attr.namespaces out, or " + raise_rights(failure, 2)};
}

Found kernel_needs_privilege(const Failure& failure) {
    if (failure.has(kExcludeKernel) || failure.privileges.may_measure_kernel()) return {};
    if (cpu_wide_needs_privilege(failure)) return {};  // takes more rights, and has a cause of its own
    return Cause{fmt::format("{} counts in the kernel too, {}, and this process is {}: it may count user mode only",
                             failure.event, level(failure), describe(failure.privileges)),
                 in_user_mode(failure) + raise_rights(failure, 1)};
}

Found physical_addresses_need_privilege(const Failure& failure) {
    if ((failure.call.attr.sample_type & kSamplePhysAddr) == 0 || failure.privileges.may_measure_kernel()) return {};
    return Cause{fmt::format("samples are to carry physical addresses, {}, and this process is {}", level(failure),
                             describe(failure.privileges)),
                 "leave PERF_SAMPLE_PHYS_ADDR out, or " + raise_rights(failure, 1)};
}

Found kernel_branches_need_privilege(const Failure& failure) {
    const auto& attr = failure.call.attr;
    if ((attr.sample_type & kSampleBranchStack) == 0 || (attr.branch_sample_type & kBranchKernelOrHv) == 0 ||
        failure.privileges.may_measure_kernel())
        return {};
    return Cause{fmt::format("samples are to carry the kernel's branches, {}, and this process is {}", level(failure),
                             describe(failure.privileges)),
                 "ask for user-mode branches only (branch filter u), or " + raise_rights(failure, 1)};
}

Found probe_needs_privilege(const Failure& failure) {
    if (!is_probe(failure) || failure.privileges.perfmon()) return {};
    return Cause{
        "opening a probe changes code that others run, which needs CAP_PERFMON whatever the paranoid level; this "
        "process is " +
            describe(failure.privileges),
        raise_rights(failure, 2)};
}

Found cpu_wide_needs_privilege(const Failure& failure) {
    const bool cgroup = (failure.call.flags & kPidCgroup) != 0;
    if ((failure.call.pid != -1 && !cgroup) || failure.privileges.may_measure_cpus()) return {};
    return Cause{fmt::format("counting {} sees every user's processes, {}, and this process is {}",
                             cgroup ? "a cgroup" : "a whole CPU", level(failure), describe(failure.privileges)),
                 "count your own command or process instead, or " + raise_rights(failure, 0)};
}

Found raw_tracepoint_needs_privilege(const Failure& failure) {
    const auto& attr = failure.call.attr;
    if (attr.type != abi::kTypeTracepoint || (attr.sample_type & kSampleRaw) == 0 ||
        failure.privileges.may_read_tracepoint_data())
        return {};
    return Cause{fmt::format("samples are to carry the tracepoint's data (PERF_SAMPLE_RAW), {}, and this process is {}",
                             level(failure), describe(failure.privileges)),
                 "count the tracepoint, or sample it without its data; or " + raise_rights(failure, -1)};
}

Found kernel_breakpoint_needs_privilege(const Failure& failure) {
    const auto& attr = failure.call.attr;
    if (attr.type != abi::kTypeBreakpoint || (attr.config1 >> 63) == 0 || failure.privileges.has(Capability::sys_admin))
        return {};
    return Cause{
        fmt::format("the breakpoint's address {:#x} is the kernel's, which needs CAP_SYS_ADMIN; this process is {}",
                    attr.config1, describe(failure.privileges)),
        "set it as root, or on an address of the program"};
}

// security_locked_down(LOCKDOWN_PERF): register contents could leak what the lockdown protects.
Found lockdown_forbids_registers(const Failure& failure) {
    if ((failure.call.attr.sample_type & kSampleRegsIntr) == 0) return {};
    const auto state = failure.root.read("/sys/kernel/security/lockdown");
    if (!state || state->find("[confidentiality]") == state->npos) return {};
    return Cause{
        "samples are to carry registers at the interrupt, and the kernel is locked down "
        "(/sys/kernel/security/lockdown: " +
            *state + ")",
        "leave PERF_SAMPLE_REGS_INTR out, or boot without lockdown=confidentiality"};
}

}  // namespace anyperf::host::causes

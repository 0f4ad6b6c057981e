// open_failure.cpp: the table of errnos and the checks to make for each.
//
// The rows of one errno are in the order of the kernel's own checks, so that the first cause found is the one that the
// kernel met first. Expensive and general checks (trying the call without its parts) come last. The same check may
// serve several errnos.
#include "host/open_failure.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

#include "host/causes/attr_bits.h"
#include "host/causes/checks.h"

namespace anyperf::host {

namespace {

using causes::Cause;
using causes::Failure;
using causes::Found;

/// One possible cause of one errno. A check returns a cause only if it has evidence; several may apply, and the first
/// one with evidence is reported.
struct Row {
    int errno_value;
    std::string_view looked_at;  ///< what the check examines, for the message if no check finds a cause
    Found (*check)(const Failure&);
};

constexpr std::array kRows{
    Row{E2BIG, "attr.size", causes::attr_larger_than_kernel_supports},
    Row{E2BIG, "the size of the group", causes::group_too_large},

    Row{EACCES, "paranoid levels above mainline's", causes::paranoid_beyond_mainline},
    Row{EACCES, "seccomp filters", causes::seccomp_filter},
    Row{EACCES, "security modules", causes::security_module},
    Row{EACCES, "attr.namespaces", causes::namespaces_need_privilege},
    Row{EACCES, "counting the kernel", causes::kernel_needs_privilege},
    Row{EACCES, "physical addresses", causes::physical_addresses_need_privilege},
    Row{EACCES, "the kernel's branches", causes::kernel_branches_need_privilege},
    Row{EACCES, "probes", causes::probe_needs_privilege},
    Row{EACCES, "counting CPU-wide", causes::cpu_wide_needs_privilege},
    Row{EACCES, "the process's owner", causes::process_of_another_user},
    Row{EACCES, "whether the process is dumpable", causes::process_not_dumpable},
    Row{EACCES, "the process's capabilities", causes::process_with_more_capabilities},

    Row{EBADF, "the cgroup's descriptor", causes::cgroup_fd_not_a_cgroup},
    Row{EBADF, "whether group_fd is open", causes::group_fd_not_open},
    Row{EBADF, "whether group_fd is an event", causes::group_fd_not_an_event},

    Row{EBUSY, "other processes' events", causes::pmu_in_exclusive_use},

    Row{EFAULT, "pointers in config1", causes::bad_pointer_in_config},

    Row{EINTR, "ftrace's probes", causes::uprobe_shared_with_ftrace},

    Row{EINVAL, "flags", causes::bad_open_flags},
    Row{EINVAL, "fields that contradict each other", causes::attr_contradicts_itself},
    Row{EINVAL, "the sample rate", causes::sample_rate_above_limit},
    Row{EINVAL, "pid and cpu", causes::neither_process_nor_cpu},
    Row{EINVAL, "the CPU's number", causes::cpu_out_of_range},
    Row{EINVAL, "breakpoint type, length and address", causes::bad_breakpoint},
    Row{EINVAL, "the tracepoint's id", causes::no_such_tracepoint},
    Row{EINVAL, "the PMU's CPUs", causes::cpu_not_served_by_pmu},
    Row{EINVAL, "the group", causes::refused_by_group},
    Row{EINVAL, "each part of the call by leaving it out", causes::refused_part},
    Row{EINVAL, "the event by itself", causes::refused_config},

    Row{EMFILE, "RLIMIT_NOFILE", causes::too_many_descriptors},
    Row{ENFILE, "the system's open files", causes::too_many_files},

    Row{ENODEV, "gVisor", causes::gvisor},
    Row{ENODEV, "whether the CPU is online", causes::cpu_offline},
    Row{ENODEV, "the PMU's CPUs", causes::cpu_not_served_by_pmu},
    Row{ENODEV, "whether the machine has a PMU", causes::no_hardware_pmu},
    Row{ENODEV, "the group", causes::refused_by_group},
    Row{ENODEV, "each part of the call by leaving it out", causes::refused_part},

    Row{ENOENT, "whether the machine has a PMU", causes::no_hardware_pmu},
    Row{ENOENT, "the PMU's type", causes::no_such_type},
    Row{ENOENT, "the software event's number", causes::no_such_software_event},
    Row{ENOENT, "the probe's file", causes::probe_target_absent},
    Row{ENOENT, "the PMU's events", causes::event_unknown_to_pmu},

    Row{ENOSPC, "breakpoints in use", causes::breakpoint_slots_used_up},
    Row{ENOSPC, "room in the group", causes::no_counter_left_for_group},

    Row{ENOSYS, "the kernel's configuration", causes::no_perf_events_in_kernel},
    Row{ENOSYS, "seccomp filters", causes::seccomp_filter},
    Row{ENOSYS, "gVisor", causes::gvisor},
    Row{ENOSYS, "copies of the user stack", causes::stack_dump_unsupported},

    Row{EOPNOTSUPP, "whether the machine has a PMU", causes::no_hardware_pmu},
    Row{EOPNOTSUPP, "each part of the call by leaving it out", causes::refused_part},
    Row{EOPNOTSUPP, "the event by itself", causes::refused_config},

    Row{EOVERFLOW, "the depth of call chains", causes::stack_deeper_than_limit},

    Row{EPERM, "seccomp filters", causes::seccomp_filter},
    Row{EPERM, "security modules", causes::security_module},
    Row{EPERM, "lockdown", causes::lockdown_forbids_registers},
    Row{EPERM, "tracepoint data", causes::raw_tracepoint_needs_privilege},
    Row{EPERM, "kernel addresses", causes::kernel_breakpoint_needs_privilege},
    Row{EPERM, "each part of the call by leaving it out", causes::refused_part},

    Row{ESRCH, "the process id", causes::negative_pid},
    Row{ESRCH, "whether the process exists", causes::no_such_process},
    Row{ESRCH, "whether the process has exited", causes::process_has_exited},
};

/// What was attempted: "cycles for process 12 on CPU 3".
std::string attempted(const OpenCall& call, const std::string& event) {
    std::string text = event;
    if ((call.flags & causes::kPidCgroup) != 0)
        text += " for a cgroup";
    else if (call.pid > 0)
        text += fmt::format(" for process {}", call.pid);
    if (call.cpu >= 0) text += fmt::format(" on CPU {}", call.cpu);
    return text;
}

/// The message if no check found a cause. It lists what was ruled out, so that the user need not check that again.
Cause ruled_out(int errno_value, std::string_view name) {
    std::string looked_at;
    for (const Row& row : kRows)
        if (row.errno_value == errno_value) looked_at += (looked_at.empty() ? "" : ", ") + std::string{row.looked_at};
    if (looked_at.empty())
        return {fmt::format("the kernel answered {}, which perf_event_open(2) does not document", name), ""};
    return {fmt::format("the kernel answered {}; these were checked and ruled out: {}", name, looked_at),
            "the kernel log may say more (dmesg | tail)"};
}

}  // namespace

// The checks may open events (Kernel::try_open), so this costs milliseconds and is called only to print a message.
Error why_open_failed(const OpenCall& call, int errno_value, std::string_view event, const Root& root,
                      const Kernel& kernel) {
    const std::string name{event.empty() ? "the event" : event};
    const Failure failure{call, errno_value, name, root, kernel, privileges(root)};
    const char* known = ::strerrorname_np(errno_value);
    const std::string errno_name = known != nullptr ? known : "errno " + std::to_string(errno_value);
    Cause cause = ruled_out(errno_value, errno_name);
    for (const Row& row : kRows) {
        if (row.errno_value != errno_value) continue;
        if (const Found found = row.check(failure)) {
            cause = *found;
            break;
        }
    }
    return Error{fmt::format("cannot open {} (perf_event_open: {})", attempted(call, name), errno_name), cause.cause,
                 cause.fix};
}

}  // namespace anyperf::host

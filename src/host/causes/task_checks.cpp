// task_checks.cpp: checks of the process or thread that an event was to be opened on: whether it exists, and whether
// this process may measure it.
//
// In the kernel: find_lively_task_by_vpid() and perf_check_permission() in kernel/events/core.c, __ptrace_may_access()
// in kernel/ptrace.c with PTRACE_MODE_READ_REALCREDS. The process must have the caller's user, be dumpable, and have no
// more capabilities than the caller; or the caller has a capability that allows it. Yama does not matter: it restricts
// attaching, not reading.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/causes/attr_bits.h"
#include "host/causes/checks.h"
#include "host/process/process_status.h"

namespace anyperf::host::causes {

namespace {

/// The process that the call names by its id. Empty if the call names the caller (0), no process (-1) or a cgroup, and
/// if the process doesn't exist.
std::optional<ProcessStatus> other_process(const Failure& failure) {
    if (failure.call.pid <= 0 || (failure.call.flags & kPidCgroup) != 0) return {};
    return process_status(failure.root, std::to_string(failure.call.pid));
}

/// CAP_PERFMON is enough since Linux 5.9; before, the kernel required CAP_SYS_PTRACE.
constexpr std::string_view kMeasureOthers =
    "measure it as its own user, or with CAP_PERFMON (before Linux 5.9: CAP_SYS_PTRACE), e.g. under sudo";

std::string named(int pid, const ProcessStatus& process) {
    return fmt::format("process {} ({})", pid, process.name);
}

}  // namespace

Found negative_pid(const Failure& failure) {
    if (failure.call.pid >= -1 || (failure.call.flags & kPidCgroup) != 0) return {};
    return Cause{fmt::format("{} is not a process id", failure.call.pid),
                 "use a process id, 0 for the calling process, or -1 together with a CPU"};
}

Found no_such_process(const Failure& failure) {
    if (failure.call.pid <= 0 || other_process(failure) || !failure.root.exists("/proc/self")) return {};
    return Cause{
        fmt::format("there is no process or thread {}: /proc/{} does not exist", failure.call.pid, failure.call.pid),
        "look for it with ps -eL; a container sees only its own processes"};
}

Found process_has_exited(const Failure& failure) {
    const auto process = other_process(failure);
    if (!process || (process->state != 'Z' && process->state != 'X')) return {};
    return Cause{fmt::format("{} has exited (state {} in /proc/{}/status)", named(failure.call.pid, *process),
                             process->state, failure.call.pid),
                 "attach while it runs, or start the command from here"};
}

Found process_of_another_user(const Failure& failure) {
    const auto process = other_process(failure);
    const auto self = process_status(failure.root, "self");
    if (!process || !self || failure.privileges.has(Capability::sys_ptrace)) return {};
    if (process->real_uid == self->real_uid && process->effective_uid == self->real_uid) return {};
    return Cause{fmt::format("{} belongs to uid {}, and this process is {}", named(failure.call.pid, *process),
                             process->effective_uid == self->real_uid ? process->real_uid : process->effective_uid,
                             describe(failure.privileges)),
                 std::string{kMeasureOthers}};
}

// The files in /proc of a process that isn't dumpable belong to root instead of its own user (proc(5)).
Found process_not_dumpable(const Failure& failure) {
    const auto process = other_process(failure);
    if (!process || process->effective_uid == 0 || failure.privileges.has(Capability::sys_ptrace)) return {};
    struct stat seen{};
    if (::stat(failure.root.path(fmt::format("/proc/{}/status", failure.call.pid)).c_str(), &seen) != 0) return {};
    if (seen.st_uid == process->effective_uid || !failure.root.is_this_machine()) return {};
    return Cause{fmt::format("{} is not dumpable (its files in /proc belong to uid {}, not {}): it called "
                             "prctl(PR_SET_DUMPABLE, 0), or its program file is privileged or not readable",
                             named(failure.call.pid, *process), seen.st_uid, process->effective_uid),
                 std::string{kMeasureOthers}};
}

Found process_with_more_capabilities(const Failure& failure) {
    const auto process = other_process(failure);
    const auto self = process_status(failure.root, "self");
    if (!process || !self || failure.privileges.has(Capability::sys_ptrace)) return {};
    const std::uint64_t more = process->permitted & ~self->permitted;
    if (more == 0) return {};
    return Cause{fmt::format("{} has capabilities that this process lacks (CapPrm {:016x} in /proc/{}/status, here "
                             "{:016x})",
                             named(failure.call.pid, *process), process->permitted, failure.call.pid, self->permitted),
                 std::string{kMeasureOthers}};
}

}  // namespace anyperf::host::causes

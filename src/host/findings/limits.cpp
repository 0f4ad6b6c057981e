// limits.cpp: how much may be measured at once. perf_event_open(2), "perf_event related configuration files".
#include <fmt/format.h>

#include <algorithm>

#include "host/findings/finders.h"
#include "host/process_limits.h"
#include "host/sysctl.h"

namespace anyperf::host::findings_of {

namespace {

constexpr long long kRingKb = 516;  // one ring of 128 pages with its header: what perf record takes for each CPU

std::string amount(std::uint64_t value) {
    return value == kUnlimited ? "unlimited" : std::to_string(value);
}

}  // namespace

// perf_mmap (kernel/events/core.c): each user has perf_event_mlock_kb for each online CPU; what goes beyond counts
// against RLIMIT_MEMLOCK, unless the level is -1 or the process has CAP_IPC_LOCK.
Found locked_memory(const Facts& facts) {
    const auto kilobytes = kernel_setting(facts.root, "perf_event_mlock_kb");
    const auto limit = process_limit(facts.root, "Max locked memory");
    if (!kilobytes) return {};
    const std::string evidence =
        fmt::format("kernel.perf_event_mlock_kb is {} (for each CPU and user); RLIMIT_MEMLOCK is {}", *kilobytes,
                    limit ? amount(limit->soft) + (limit->soft == kUnlimited ? "" : " bytes") : "not known");
    const bool capable = facts.privileges.has(Capability::ipc_lock);
    if (capable || facts.privileges.paranoid.value_or(2) <= -1)
        return Finding{"locked-memory",
                       "ring buffers may have any size: the mlock limit does not apply",
                       evidence + (capable ? "; CAP_IPC_LOCK" : "; perf_event_paranoid is -1"),
                       "",
                       "",
                       Severity::ok};
    if (*kilobytes >= kRingKb)
        return Finding{"locked-memory",
                       fmt::format("ring buffers may have {} KiB for each CPU (mlock limit)", *kilobytes),
                       evidence,
                       "larger rings count against RLIMIT_MEMLOCK, then mmap answers EPERM",
                       "",
                       Severity::note};
    return Finding{"locked-memory",
                   fmt::format("ring buffers may have only {} KiB for each CPU (mlock limit)", *kilobytes),
                   evidence,
                   "sampling with rings of the usual size (512 KiB) may fail: mmap answers EPERM",
                   fmt::format("as root: sysctl kernel.perf_event_mlock_kb={}; or smaller rings", kRingKb),
                   Severity::limits};
}

Found open_files(const Facts& facts) {
    constexpr std::uint64_t kUsual = 1024;
    const auto limit = process_limit(facts.root, "Max open files");
    if (!limit) return {};
    const std::string evidence =
        fmt::format("RLIMIT_NOFILE is {} (hard limit {})", amount(limit->soft), amount(limit->hard));
    Finding finding{
        "open-files",
        fmt::format("{} descriptors may be open: one for each event on each CPU or thread", amount(limit->soft)),
        evidence,
        "",
        "",
        Severity::ok};
    if (limit->soft >= kUsual) return finding;
    finding.effect = "many events, CPUs or threads at once are refused (EMFILE)";
    finding.fix = limit->soft < limit->hard ? fmt::format("ulimit -n {}", amount(limit->hard))
                                            : "as root: raise the hard limit (/etc/security/limits.conf)";
    finding.severity = Severity::limits;
    return finding;
}

Found sample_rate(const Facts& facts) {
    constexpr long long kUsual = 4000;  // perf record's own -F
    const auto rate = kernel_setting(facts.root, "perf_event_max_sample_rate");
    if (!rate) return {};
    const auto percent = kernel_setting(facts.root, "perf_cpu_time_max_percent");
    Finding finding{"sample-rate",
                    fmt::format("max sample rate: {} a second", *rate),
                    fmt::format("kernel.perf_event_max_sample_rate is {}{}", *rate,
                                percent ? fmt::format("; kernel.perf_cpu_time_max_percent is {}", *percent) : ""),
                    "",
                    "",
                    Severity::ok};
    if (*rate >= kUsual) return finding;
    finding.effect =
        "the kernel has lowered the rate because interrupts took too much time; higher ones are refused (EINVAL)";
    finding.fix =
        "as root: sysctl kernel.perf_event_max_sample_rate=100000 (and kernel.perf_cpu_time_max_percent=0 to "
        "keep it)";
    finding.severity = Severity::limits;
    return finding;
}

Found stack_depth(const Facts& facts) {
    const auto depth = kernel_setting(facts.root, "perf_event_max_stack");
    if (!depth) return {};
    return Finding{"stack-depth",
                   fmt::format("call chains of up to {} frames", *depth),
                   fmt::format("kernel.perf_event_max_stack is {}", *depth),
                   "",
                   "",
                   Severity::ok};
}

}  // namespace anyperf::host::findings_of

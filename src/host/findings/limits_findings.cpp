// limits_findings.cpp: findings about limits on what may be measured at once: locked memory for rings, descriptors, the
// sample rate and the depth of call chains. perf_event_open(2), "perf_event related configuration files".
#include <fmt/format.h>

#include <algorithm>

#include "host/findings/finders.h"
#include "host/kernel/sysctl.h"
#include "host/process/process_limits.h"

namespace anyperf::host::findings_of {

namespace {

/// One ring of 128 pages with its header page, which perf record maps for each CPU.
constexpr long long kRingKb = 516;

std::string amount(std::uint64_t value) {
    return value == kUnlimited ? "unlimited" : std::to_string(value);
}

}  // namespace

// perf_mmap() (kernel/events/core.c): a user may lock perf_event_mlock_kb for each online CPU, for all rings together.
// More than that counts against RLIMIT_MEMLOCK. Neither limit applies at paranoid level -1 or with CAP_IPC_LOCK. The
// finding says how large a ring may be if there is one for each CPU.
Found locked_memory(const Facts& facts) {
    const auto kilobytes = kernel_setting(facts.root, "perf_event_mlock_kb");
    const auto limit = process_limit(facts.root, "Max locked memory");
    if (!kilobytes) return {};
    const std::string evidence =
        fmt::format("kernel.perf_event_mlock_kb is {} (per CPU and user); RLIMIT_MEMLOCK is {}", *kilobytes,
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
                       fmt::format("ring buffers may have {} KiB per CPU (mlock limit)", *kilobytes),
                       evidence,
                       "larger rings count against RLIMIT_MEMLOCK; beyond that mmap reports EPERM",
                       "",
                       Severity::note};
    return Finding{"locked-memory",
                   fmt::format("ring buffers may have only {} KiB per CPU (mlock limit)", *kilobytes),
                   evidence,
                   "sampling with rings of the usual size (512 KiB) can fail: mmap reports EPERM",
                   fmt::format("as root: sysctl kernel.perf_event_mlock_kb={}; or use smaller rings", kRingKb),
                   Severity::limits};
}

// A descriptor is needed for each event on each CPU (-a) or of each thread (-p), so the number grows as a product: ten
// events of a process with 100 threads need 1000. Any process may raise its soft limit up to the hard limit, so the
// advice depends on whether the hard limit is higher.
Found open_files(const Facts& facts) {
    constexpr std::uint64_t kUsual = 1024;  // the usual default of distributions
    const auto limit = process_limit(facts.root, "Max open files");
    if (!limit) return {};
    const std::string evidence =
        fmt::format("RLIMIT_NOFILE is {} (hard limit {})", amount(limit->soft), amount(limit->hard));
    Finding finding{
        "open-files",
        fmt::format("{} descriptors may be open; each event needs one per CPU or thread", amount(limit->soft)),
        evidence,
        "",
        "",
        Severity::ok};
    if (limit->soft >= kUsual) return finding;
    finding.effect = "measuring many events, CPUs or threads at once is refused (EMFILE)";
    finding.fix = limit->soft < limit->hard ? fmt::format("ulimit -n {}", amount(limit->hard))
                                            : "as root: raise the hard limit (/etc/security/limits.conf)";
    finding.severity = Severity::limits;
    return finding;
}

// The kernel lowers perf_event_max_sample_rate by itself when its interrupt handler takes more of a CPU's time than
// perf_cpu_time_max_percent allows. Its log then has "perf: interrupt took too long (2511 > 2500), lowering
// kernel.perf_event_max_sample_rate to 79500". So a low value need not be anyone's choice. A frequency above the limit
// is refused.
Found sample_rate(const Facts& facts) {
    constexpr long long kUsual = 4000;  // perf record's default -F
    const auto rate = kernel_setting(facts.root, "perf_event_max_sample_rate");
    if (!rate) return {};
    const auto percent = kernel_setting(facts.root, "perf_cpu_time_max_percent");
    Finding finding{"sample-rate",
                    fmt::format("max sample rate: {} per second", *rate),
                    fmt::format("kernel.perf_event_max_sample_rate is {}{}", *rate,
                                percent ? fmt::format("; kernel.perf_cpu_time_max_percent is {}", *percent) : ""),
                    "",
                    "",
                    Severity::ok};
    if (*rate >= kUsual) return finding;
    finding.effect =
        "the kernel has lowered the rate because interrupts took too much time; higher rates are refused (EINVAL)";
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

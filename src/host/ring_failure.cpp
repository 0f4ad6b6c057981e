// ring_failure.cpp: what perf_mmap() (kernel/events/core.c) and mmap(2) refuse. EPERM has most causes: a user may lock
// perf_event_mlock_kb for each online CPU, for all events together. What exceeds that counts against RLIMIT_MEMLOCK of
// the process. CAP_IPC_LOCK or paranoid level -1 lift both limits. An executable mapping is refused, too.
#include "host/ring_failure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>

#include "host/hardware/cpus.h"
#include "host/kernel/sysctl.h"
#include "host/process/privileges.h"
#include "host/process/process_limits.h"

namespace anyperf::host {

namespace {

/// The Error with the parts that all causes share.
Error cannot_map(std::size_t bytes, int errno_value, std::string cause, std::string fix) {
    const char* name = ::strerrorname_np(errno_value);
    return {fmt::format("cannot map a ring buffer of {} KiB (mmap: {})", bytes / 1024, name != nullptr ? name : "?"),
            std::move(cause), std::move(fix)};
}

/// Rounded up.
std::size_t to_kilobytes(std::size_t bytes) {
    return (bytes + 1023) / 1024;
}

/// The limits on memory that rings lock; empty where a limit can't be read.
struct LockLimits {
    std::optional<long long> kilobytes_per_cpu;
    std::optional<std::size_t> cpus;
    std::optional<ProcessLimit> process;

    /// Whether perf_event_mlock_kb alone allows a ring of this size to a user who has no other.
    bool allow_alone(std::size_t bytes) const {
        return kilobytes_per_cpu && cpus && *kilobytes_per_cpu > 0 &&
               to_kilobytes(bytes) <= static_cast<std::size_t>(*kilobytes_per_cpu) * *cpus;
    }
};

LockLimits lock_limits(const Root& root) {
    LockLimits limits{kernel_setting(root, "perf_event_mlock_kb"), {}, process_limit(root, "Max locked memory")};
    if (const auto cpus = online_cpus(root)) limits.cpus = cpus->size();
    return limits;
}

std::string describe(const LockLimits& limits) {
    const std::string cpus = limits.cpus ? fmt::format("each of {} CPUs", *limits.cpus) : "each online CPU";
    return fmt::format(
        "kernel.perf_event_mlock_kb allows {} for {}, RLIMIT_MEMLOCK {} beyond that",
        limits.kilobytes_per_cpu ? fmt::format("{} KiB", *limits.kilobytes_per_cpu) : "an unknown amount", cpus,
        limits.process ? fmt::format("{} KiB", limits.process->soft / 1024) : "an unknown amount");
}

/// Each advice alone suffices: the two limits are independent, and each is raised by the ring's size.
std::string how_to_lock_more(const LockLimits& limits, std::size_t bytes) {
    const std::size_t kilobytes = to_kilobytes(bytes);
    std::string advice = "use smaller or fewer rings";
    if (limits.process) advice += fmt::format("; or ulimit -l {}", limits.process->soft / 1024 + kilobytes);
    if (limits.kilobytes_per_cpu && limits.cpus)
        advice += fmt::format("; or as root: sysctl kernel.perf_event_mlock_kb={}",
                              static_cast<std::size_t>(std::max(*limits.kilobytes_per_cpu, 0LL)) +
                                  (kilobytes + *limits.cpus - 1) / *limits.cpus);
    return advice;
}

/// Explains EPERM: by the limits on locked memory, or by the other reasons if the limits don't apply.
Error explain_eperm(std::size_t bytes, const Root& root) {
    const Privileges rights = privileges(root);
    const LockLimits limits = lock_limits(root);
    const bool unlimited = rights.has(Capability::ipc_lock) || rights.paranoid.value_or(2) <= -1 ||
                           (limits.process && limits.process->soft == kUnlimited);
    if (unlimited)
        return cannot_map(
            bytes, EPERM,
            "the mapping is executable, or a security module refuses it; the limits on locked memory don't apply "
            "to this process",
            "map it with PROT_READ or PROT_READ | PROT_WRITE");
    const std::string limit =
        fmt::format("more memory than allowed: {}, and {} has no CAP_IPC_LOCK", describe(limits), describe(rights));
    if (limits.allow_alone(bytes))
        return cannot_map(bytes, EPERM,
                          "together with other rings of this user it would lock " + limit +
                              "; or the mapping is executable, or a security module refuses it",
                          how_to_lock_more(limits, bytes));
    return cannot_map(bytes, EPERM, "the rings of this user would lock " + limit, how_to_lock_more(limits, bytes));
}

}  // namespace

Error why_ring_failed(std::size_t bytes, int errno_value, const Root& root) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t pages = bytes / page + (bytes % page != 0 ? 1 : 0);  // mmap rounds up
    if (errno_value == EPERM) return explain_eperm(bytes, root);
    if (errno_value == EINVAL && (pages == 0 || (pages > 1 && !std::has_single_bit(pages - 1))))
        return cannot_map(
            bytes, errno_value,
            fmt::format("a ring has 2^n pages after its header page, but {} pages in all were requested", pages),
            "map 1 + 2^n pages");
    if (errno_value == ENOMEM)
        return cannot_map(bytes, errno_value, "the kernel has no free memory for a ring of that size",
                          "use a smaller ring");
    if (errno_value == EINVAL)
        return cannot_map(bytes, errno_value,
                          "the event's ring is already mapped with another size, the event is inherited and not bound "
                          "to a CPU, or the mapping is private",
                          "unmap it first; open an inherited event on each CPU; map with MAP_SHARED");
    return cannot_map(bytes, errno_value, fmt::format("no cause is known; {} pages were requested", pages), "");
}

}  // namespace anyperf::host

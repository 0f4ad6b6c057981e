// ring_failure.cpp: perf_mmap (kernel/events/core.c): a user may lock perf_event_mlock_kb for each online CPU, over all
// events; beyond that a process has RLIMIT_MEMLOCK; CAP_IPC_LOCK or paranoid level -1 lift both.
#include "host/ring_failure.h"

#include <fmt/format.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstring>

#include "host/cpus.h"
#include "host/privileges.h"
#include "host/process_limits.h"
#include "host/sysctl.h"

namespace anyperf::host {

namespace {

Error cannot_map(std::size_t bytes, int errno_value, std::string cause, std::string fix) {
    const char* name = ::strerrorname_np(errno_value);
    return {fmt::format("cannot map a ring buffer of {} KiB (mmap: {})", bytes / 1024, name != nullptr ? name : "?"),
            std::move(cause), std::move(fix)};
}

Error locked_memory(std::size_t bytes, const Root& root) {
    const Privileges rights = privileges(root);
    const auto kilobytes = kernel_setting(root, "perf_event_mlock_kb").value_or(0);
    const auto cpus = online_cpus(root);
    const auto limit = process_limit(root, "Max locked memory");
    const std::size_t count = cpus ? cpus->size() : 1;
    if (rights.has(Capability::ipc_lock) || rights.paranoid.value_or(2) <= -1)
        return cannot_map(bytes, EPERM,
                          "the mapping asks for execution, or a security module refuses it; the limits on "
                          "locked memory don't apply to this process",
                          "map it readable, or readable and writable");
    return cannot_map(
        bytes, EPERM,
        fmt::format(
            "the rings of this user would lock more memory than it may: kernel.perf_event_mlock_kb allows {} KiB "
            "for each of {} CPUs, RLIMIT_MEMLOCK {} beyond that, and {} has no CAP_IPC_LOCK",
            kilobytes, count,
            !limit                      ? "nothing that can be read"
            : limit->soft == kUnlimited ? "any amount"
                                        : fmt::format("{} KiB", limit->soft / 1024),
            describe(rights)),
        fmt::format("smaller or fewer rings (-m); or ulimit -l {}; or as root: sysctl kernel.perf_event_mlock_kb={}",
                    bytes / 1024, (bytes + 1023) / 1024));
}

}  // namespace

Error why_ring_failed(std::size_t bytes, int errno_value, const Root& root) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t pages = bytes / page;
    if (errno_value == EPERM) return locked_memory(bytes, root);
    if (errno_value == EINVAL && (pages == 0 || (pages > 1 && !std::has_single_bit(pages - 1))))
        return cannot_map(bytes, errno_value,
                          fmt::format("a ring has 2^n pages behind its header page; asked for are {} "
                                      "pages in all",
                                      pages),
                          "1 + 2^n pages");
    if (errno_value == ENOMEM)
        return cannot_map(bytes, errno_value, "the kernel has no contiguous memory of that size left",
                          "a smaller ring (-m)");
    if (errno_value == EINVAL)
        return cannot_map(bytes, errno_value,
                          "the event's ring is mapped with another size, or it is inherited and bound to "
                          "no CPU",
                          "unmap it first; open inherited events on each CPU");
    return cannot_map(bytes, errno_value, fmt::format("the kernel answered so for {} pages", pages), "");
}

}  // namespace anyperf::host

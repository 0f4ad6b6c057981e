// kernel.h: the system calls that counting needs, as an interface. system_kernel() makes the real calls; a test, or the
// perf_event subsystem of a run, can take its place.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "anyperf/attr.h"

namespace anyperf::counting {

/// The calls. Results are those of the kernel, but failures return the negative errno and callers don't look at
/// `errno`. Implementations must allow calls by several threads at once.
class Kernel {
  public:
    virtual ~Kernel() = default;

    /// perf_event_open(2): a descriptor or -errno.
    virtual int open(const abi::Attr& attr, pid_t pid, int cpu, int group_fd, unsigned long flags) = 0;
    /// Why the last open() was refused, if the implementation knows the reason. Otherwise the cause is searched for on
    /// the machine (host/open_failure.h).
    virtual std::optional<std::string> cause_of_refusal() { return std::nullopt; }
    /// True if this event is not counted by what counts the others: beside the events of a run, for example, the kernel
    /// counts tracepoints. Such an event can't be in a group with the others and is opened alone.
    virtual bool is_apart(const abi::Attr&) { return false; }
    /// read(2) of an event descriptor: the bytes read, 0 (end of file) for a pinned event in error state, or
    /// -errno.
    virtual ssize_t read(int fd, void* buffer, std::size_t bytes) = 0;
    /// ioctl(2): 0 or -errno.
    virtual int ioctl(int fd, unsigned long request, unsigned long argument) = 0;
    /// Maps the event's first page (struct perf_event_mmap_page), shared and read-only. Null if it can't be mapped. The
    /// caller unmaps it by unmap_page().
    virtual const void* map_page(int fd) = 0;
    virtual void unmap_page(const void* page) = 0;
    virtual void close(int fd) = 0;

    /// Opens a directory for PERF_FLAG_PID_CGROUP: a descriptor, which the caller closes by close(), or -errno.
    virtual int open_directory(const std::string& path) = 0;
    /// The thread ids of a process, ascending; empty if there is no such process.
    virtual std::vector<pid_t> threads_of(pid_t process) = 0;
    /// The CPUs that are online, ascending.
    virtual std::vector<int> online_cpus() = 0;
};

/// The kernel that runs this program. It has no state and lives as long as the program.
Kernel& system_kernel();

}  // namespace anyperf::counting

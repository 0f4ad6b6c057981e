// kernel.h: the system calls that counting needs, behind one interface, so that a test can be the kernel.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "anyperf/attr.h"

namespace anyperf::counting {

/// What counting asks of the system. Calls answer as the kernel does, but a failure is the negative errno: nothing
/// here looks at `errno`. Implementations may be called by several threads at once.
class Kernel {
  public:
    virtual ~Kernel() = default;

    /// perf_event_open(2): a descriptor or -errno.
    virtual int open(const abi::Attr& attr, pid_t pid, int cpu, int group_fd, unsigned long flags) = 0;
    /// Why the last open was refused, from who knows; nothing where that must be looked for on the machine.
    virtual std::optional<std::string> cause_of_refusal() { return std::nullopt; }
    /// read(2) of an event descriptor: bytes, 0 for the end of file that a pinned event in error state answers, -errno.
    virtual ssize_t read(int fd, void* buffer, std::size_t bytes) = 0;
    /// ioctl(2): 0 or -errno.
    virtual int ioctl(int fd, unsigned long request, unsigned long argument) = 0;
    /// The event's first page (perf_event_mmap_page), shared and read-only. Null where it can't be mapped.
    virtual const void* map_page(int fd) = 0;
    virtual void unmap_page(const void* page) = 0;
    virtual void close(int fd) = 0;

    /// A directory opened for PERF_FLAG_PID_CGROUP: a descriptor or -errno.
    virtual int open_directory(const std::string& path) = 0;
    /// The tids of a process, ascending; empty where there is no such process.
    virtual std::vector<pid_t> threads_of(pid_t process) = 0;
    /// The CPUs that are online, ascending.
    virtual std::vector<int> online_cpus() = 0;
};

/// The kernel that runs us. Has no state.
Kernel& system_kernel();

}  // namespace anyperf::counting

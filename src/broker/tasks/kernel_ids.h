// kernel_ids.h: which thread of the machine an id means. An id is valid in one pid namespace only (pid_namespaces(7)):
// what a program calls 7 may be 4711 for the broker, and the broker's 7 a stranger. So an id that a program names is
// translated before anything is asked of the kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace anyperf::broker {

/// A thread in the broker's own pid namespace. 0: none.
struct KernelIds {
    std::int32_t pid = 0;
    std::int32_t tid = 0;

    explicit operator bool() const { return tid > 0; }
    bool operator==(const KernelIds&) const = default;
};

/// A thread by the names that its own pid namespace has for it.
struct OwnIds {
    std::int32_t pid = 0;
    std::int32_t tid = 0;
};

/// The inode of the thread's pid namespace; 0: it cannot be read.
std::uint64_t pid_namespace_of(std::int32_t tid);

/// The same of this process, read once.
std::uint64_t own_pid_namespace();

/// Whether the process is in this process's pid namespace. True if that cannot be read.
bool is_in_own_namespace(std::int32_t pid);

/// Whether the kernel has this thread, and in this process. A zombie is still there.
bool exists(const KernelIds& thread);

/// What the thread's own pid namespace calls it.
OwnIds own_ids_of(const KernelIds& thread);

/// The process's parent, by the id that the process has for it; 0: it sees none, or the process is gone.
std::int32_t parent_of(std::int32_t pid);

/// The thread of process `pid` (an id of the broker's) that its own namespace calls `tid`.
KernelIds thread_called(std::int32_t pid, std::int32_t tid);

/// The thread that `tid` means to the thread `viewer` (an id of the broker's). As in the kernel, a viewer sees the
/// threads of its namespace and of those below it.
KernelIds seen_as(std::int32_t tid, std::int32_t viewer);

/// The thread that pid namespace `inode` calls `tid`; 0 for the inode means the broker's namespace.
KernelIds called_in(std::uint64_t inode, std::int32_t tid);

/// Whether the process runs the executable at this path; nothing if the kernel does not say.
std::optional<bool> runs_file(std::int32_t pid, const std::string& path);

}  // namespace anyperf::broker

// kernel_ids.h: which thread of the machine an id means. An id is valid in one pid namespace only (pid_namespaces(7)):
// a program's thread 7 may be thread 4711 for the broker, and the broker's 7 an unrelated thread. So the broker
// translates an id that a program names before it asks the kernel about it.
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

/// The ids of a thread in its own pid namespace.
struct OwnIds {
    std::int32_t pid = 0;
    std::int32_t tid = 0;
};

/// The inode of the thread's pid namespace; 0 if /proc cannot be read.
std::uint64_t pid_namespace_of(std::int32_t tid);

/// The inode of this process's pid namespace. It is read once; 0 as above.
std::uint64_t own_pid_namespace();

/// Whether the process is in this process's pid namespace. True if that cannot be read.
bool is_in_own_namespace(std::int32_t pid);

/// Whether the kernel has this thread, and in this process. A zombie is still there.
bool exists(const KernelIds& thread);

/// The thread's ids in its own pid namespace; `thread` itself if /proc cannot be read.
OwnIds own_ids_of(const KernelIds& thread);

/// The id of the process's parent in the process's own pid namespace; 0 if the parent is outside of that namespace, or
/// the process is gone.
std::int32_t parent_of(std::int32_t pid);

/// The thread of process `pid` (in the broker's namespace) whose id in its own namespace is `tid`.
KernelIds thread_called(std::int32_t pid, std::int32_t tid);

/// The thread that `tid` means to the thread `viewer` (an id in the broker's namespace). As in the kernel, a viewer
/// sees the threads of its namespace and of those below it.
KernelIds seen_as(std::int32_t tid, std::int32_t viewer);

/// The thread whose own pid namespace is `inode`, and whose id there is `tid`. `inode` 0 means the broker's namespace.
KernelIds called_in(std::uint64_t inode, std::int32_t tid);

/// Whether the process runs the executable at this path; nothing if the kernel does not say.
std::optional<bool> runs_file(std::int32_t pid, const std::string& path);

}  // namespace anyperf::broker

// kernel_ids.cpp: translation by NSpid of /proc/PID/status (proc(5)), which lists the ids of a thread from the reader's
// namespace down to the thread's own. Where all are in one namespace nothing is read.
//
// Programs of a run may be in pid namespaces of their own (containers), and requests name threads as their sender sees
// them. The kernel translates ids only in what it does itself, not for a third process. /proc has the list of a
// thread's ids but no index by an inner id, so finding a thread by such an id is a search of /proc. It is done only if
// the id is of another namespace than the broker's, which is the rare case.
#include "broker/tasks/kernel_ids.h"

#include <fcntl.h>
#include <linux/nsfs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include "broker/host/proc_task.h"
#include "broker/run_memory.h"

namespace anyperf::broker {

namespace {

namespace filesystem = std::filesystem;

std::string proc_path(std::int32_t tid, const char* file) {
    return "/proc/" + std::to_string(tid) + "/" + file;
}

std::vector<std::int32_t> numbers_in(std::string_view text) {
    std::vector<std::int32_t> numbers;
    while (true) {
        const std::size_t digit = text.find_first_of("0123456789");
        if (digit == std::string_view::npos) return numbers;
        text.remove_prefix(digit);
        std::int32_t number = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
        text.remove_prefix(static_cast<std::size_t>(end - text.data()));
        if (error == std::errc{}) numbers.push_back(number);
    }
}

std::vector<std::int32_t> ids_of(std::int32_t tid) {
    return numbers_in(status_field(tid, "NSpid"));
}

std::int32_t process_of(std::int32_t tid) {
    const auto numbers = numbers_in(status_field(tid, "Tgid"));
    return numbers.empty() ? 0 : numbers.front();
}

/// The inode of the pid namespace that is `levels` above the thread's; 0 if it cannot be found out. NS_GET_PARENT of
/// ioctl_ns(2) goes one level up; it is refused above the caller's own namespace.
std::uint64_t namespace_above(std::int32_t tid, std::size_t levels) {
    OwnedFd at{::open(proc_path(tid, "ns/pid").c_str(), O_RDONLY | O_CLOEXEC)};
    for (; at && levels != 0; --levels) at = OwnedFd{::ioctl(at.get(), NS_GET_PARENT)};
    struct stat about{};
    return at && ::fstat(at.get(), &about) == 0 ? about.st_ino : 0;
}

/// Calls `function` with each number that names an entry of the directory, until it returns true.
bool any_entry(const std::string& directory, const auto& function) {
    std::error_code error;
    for (filesystem::directory_iterator at{directory, error}, end; !error && at != end; at.increment(error)) {
        const std::string name = at->path().filename();
        std::int32_t number = 0;
        const char* const last = name.data() + name.size();
        if (std::from_chars(name.data(), last, number).ptr == last && function(number)) return true;
    }
    return false;
}

/// The first thread of the machine for which `matches` holds.
KernelIds find_thread(const auto& matches) {
    KernelIds found;
    any_entry("/proc", [&](std::int32_t pid) {
        return any_entry(proc_path(pid, "task"), [&](std::int32_t tid) {
            if (matches(tid)) found = {pid, tid};
            return static_cast<bool>(found);
        });
    });
    return found;
}

KernelIds in_own_namespace(std::int32_t tid) {
    if (tid <= 0) return {};
    // Most callers want a process's first thread, which has the process's id: one call finds it. Only for other threads
    // the process must be read from /proc.
    if (exists({tid, tid})) return {tid, tid};
    const std::int32_t pid = process_of(tid);
    return pid > 0 ? KernelIds{pid, tid} : KernelIds{};
}

}  // namespace

std::uint64_t pid_namespace_of(std::int32_t tid) {
    struct stat about{};
    return ::stat(proc_path(tid, "ns/pid").c_str(), &about) == 0 ? about.st_ino : 0;
}

std::uint64_t own_pid_namespace() {
    static const std::uint64_t own = pid_namespace_of(::getpid());
    return own;
}

bool is_in_own_namespace(std::int32_t pid) {
    const std::uint64_t inode = pid_namespace_of(pid);
    return inode == 0 || inode == own_pid_namespace();
}

bool exists(const KernelIds& thread) {
    if (thread.pid <= 0 || thread.tid <= 0) return false;
    return ::syscall(SYS_tgkill, thread.pid, thread.tid, 0) == 0 || errno != ESRCH;
}

OwnIds own_ids_of(const KernelIds& thread) {
    const auto process = ids_of(thread.pid);
    const auto ids = ids_of(thread.tid);
    return process.empty() || ids.empty() ? OwnIds{thread.pid, thread.tid} : OwnIds{process.back(), ids.back()};
}

std::int32_t parent_of(std::int32_t pid) {
    const auto numbers = numbers_in(status_field(pid, "PPid"));
    const std::int32_t parent = numbers.empty() ? 0 : numbers.front();
    if (parent == 0 || is_in_own_namespace(pid)) return parent;
    return pid_namespace_of(parent) == pid_namespace_of(pid) ? own_ids_of({parent, parent}).pid : 0;
}

KernelIds thread_called(std::int32_t pid, std::int32_t tid) {
    KernelIds found;
    any_entry(proc_path(pid, "task"), [&](std::int32_t number) {
        const auto ids = ids_of(number);
        if (!ids.empty() && ids.back() == tid) found = {pid, number};
        return static_cast<bool>(found);
    });
    return found;
}

KernelIds seen_as(std::int32_t tid, std::int32_t viewer) {
    if (tid <= 0) return {};
    if (is_in_own_namespace(viewer)) return in_own_namespace(tid);
    const std::uint64_t inode = pid_namespace_of(viewer);
    const std::size_t depth = ids_of(viewer).size();
    return find_thread([&](std::int32_t candidate) {
        const auto ids = ids_of(candidate);
        return depth != 0 && ids.size() >= depth && ids[depth - 1] == tid &&
               namespace_above(candidate, ids.size() - depth) == inode;
    });
}

KernelIds called_in(std::uint64_t inode, std::int32_t tid) {
    if (tid <= 0) return {};
    if (inode == 0 || inode == own_pid_namespace()) return in_own_namespace(tid);
    return find_thread([&](std::int32_t candidate) {
        const auto ids = ids_of(candidate);
        return !ids.empty() && ids.back() == tid && pid_namespace_of(candidate) == inode;
    });
}

std::optional<bool> runs_file(std::int32_t pid, const std::string& path) {
    struct stat running{};
    struct stat wanted{};
    if (::stat(proc_path(pid, "exe").c_str(), &running) != 0 || ::stat(path.c_str(), &wanted) != 0) return std::nullopt;
    return running.st_dev == wanted.st_dev && running.st_ino == wanted.st_ino;
}

}  // namespace anyperf::broker

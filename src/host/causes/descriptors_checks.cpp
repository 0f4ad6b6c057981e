// descriptors_checks.cpp: checks of the descriptors that are passed to an open (group_fd, a cgroup's directory), and of
// the limits on open descriptors (EMFILE: of this process, ENFILE: of the system).
//
// The descriptors are looked up in this process, so the checks must run in the process whose call failed.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>

#include "host/causes/attr_bits.h"
#include "host/causes/checks.h"
#include "host/kernel/sysctl.h"

namespace anyperf::host::causes {

namespace {

constexpr unsigned long kCgroupMagic = 0x27e0eb;     // CGROUP_SUPER_MAGIC, linux/magic.h
constexpr unsigned long kCgroup2Magic = 0x63677270;  // CGROUP2_SUPER_MAGIC

bool is_open(int fd) {
    return ::fcntl(fd, F_GETFD) >= 0;
}

/// What a descriptor refers to, as /proc shows it: "/dev/null", "anon_inode:[perf_event]".
std::string what_it_is(const Failure& failure, int fd) {
    return failure.root.link(fmt::format("/proc/self/fd/{}", fd));
}

}  // namespace

Found group_fd_not_open(const Failure& failure) {
    const int fd = failure.call.group_fd;
    if (!failure.can_retry() || fd == -1 || is_open(fd)) return {};
    return Cause{fmt::format("group_fd {} is not an open descriptor of this process", fd),
                 "pass the group leader's descriptor while it is open, or -1 for an event without a group"};
}

// The kernel answers EBADF both for a closed descriptor and for one of something else.
Found group_fd_not_an_event(const Failure& failure) {
    const int fd = failure.call.group_fd;
    if (!failure.can_retry() || fd < 0 || !is_open(fd)) return {};
    const std::string kind = what_it_is(failure, fd);
    if (kind.empty() || kind == "anon_inode:[perf_event]") return {};
    return Cause{fmt::format("group_fd {} is not a performance event but {}", fd, kind),
                 "pass the group leader's descriptor, or -1 for an event without a group"};
}

Found cgroup_fd_not_a_cgroup(const Failure& failure) {
    const int fd = failure.call.pid;
    if (!failure.can_retry() || (failure.call.flags & kPidCgroup) == 0) return {};
    const std::string fix =
        "pass a descriptor of a cgroup's directory, below the mount of cgroup2 or of the perf_event "
        "controller (/proc/mounts)";
    if (fd < 0 || !is_open(fd)) return Cause{fmt::format("the cgroup's descriptor {} is not open", fd), fix};
    struct stat seen{};
    struct statfs system{};
    const bool directory = ::fstat(fd, &seen) == 0 && S_ISDIR(seen.st_mode);
    if (!directory)
        return Cause{fmt::format("descriptor {} ({}) is not a directory", fd, what_it_is(failure, fd)), fix};
    const bool cgroup = ::fstatfs(fd, &system) == 0 && (static_cast<unsigned long>(system.f_type) == kCgroupMagic ||
                                                        static_cast<unsigned long>(system.f_type) == kCgroup2Magic);
    const std::string directory_name = what_it_is(failure, fd);
    if (!cgroup) return Cause{fmt::format("{} is not in a cgroup file system", directory_name), fix};
    // A v1 hierarchy of another controller has the same magic number.
    return Cause{
        fmt::format("{} is a cgroup, but not of the hierarchy that has the perf_event controller", directory_name),
        fix};
}

Found too_many_descriptors(const Failure& failure) {
    rlimit limit{};
    if (!failure.can_retry() || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
    // Listing /proc/self/fd would itself need a descriptor, so the check is whether one can be duplicated.
    const int one_more = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (one_more >= 0) ::close(one_more);
    const int error = errno;
    if (one_more >= 0 || error != EMFILE) return {};
    return Cause{
        fmt::format("this process has reached its limit of open descriptors: RLIMIT_NOFILE is {} (hard limit {}), "
                    "and each event takes one per CPU or thread that it counts on",
                    limit.rlim_cur, limit.rlim_max),
        limit.rlim_cur < limit.rlim_max
            ? fmt::format("ulimit -n {}; or open fewer events, CPUs or threads at once", limit.rlim_max)
            : "as root: raise the hard limit (ulimit -Hn, /etc/security/limits.conf); or open fewer events at once"};
}

Found too_many_files(const Failure& failure) {
    const auto state = failure.root.read("/proc/sys/fs/file-nr");
    if (!state) return {};
    return Cause{fmt::format("the system's table of open files is full (/proc/sys/fs/file-nr: {})", *state),
                 "as root: sysctl fs.file-max=N with a larger N; or close files"};
}

}  // namespace anyperf::host::causes

// open.cpp: perf_event_open(2). The descriptor is one end of a socket pair; the broker gets the other end. So the
// kernel itself does dup, fork, SCM_RIGHTS and close-on-exec; the broker sees the last close as end of file; and a byte
// that the broker sends wakes the threads that poll the descriptor.
//
// The socket pair is made before the broker is asked, because the kernel checks for a free descriptor among its other
// checks (EMFILE comes after those of the attr). So the broker always gets the request, without a descriptor if there
// is none, and decides.
#include <errno.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>
#include <cstddef>

#include "abi/attr_sizes.h"
#include "abi/ioctls.h"
#include "agent/broker_request.h"
#include "agent/probes/resolve_probed_file.h"
#include "agent/syscalls/descriptors.h"
#include "agent/syscalls/event_syscalls.h"
#include "anyperf/attr.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

using engine::address_of;
using engine::is_error;
using engine::kernel_call;

namespace {

constexpr std::uint64_t kSizeOffset = offsetof(abi::Attr, size);
constexpr std::uint32_t kSmallestAttr = abi::kAttrSizes.front().bytes;
constexpr auto kCloseOnExec = abi::bit(abi::kOpenFlags, "PERF_FLAG_FD_CLOEXEC");
constexpr auto kOfCgroup = abi::bit(abi::kOpenFlags, "PERF_FLAG_PID_CGROUP");

void close_both(const int (&pair)[2]) {
    for (const int fd : pair)
        if (fd >= 0) kernel_call(__NR_close, static_cast<unsigned>(fd));
}

/// Adds the attr as the payload, as long as its `size` says. If the kernel refuses the size, it reads nothing beyond
/// the field `size`, and neither does this function. If the attr cannot be read, there is no payload.
void add_attr(const Call& call, BrokerRequest& request) {
    constexpr std::uint32_t kLargest = 4096;
    std::uint32_t size = 0;
    const std::uint64_t attr = call.argument[0];
    const bool readable =
        engine::x86_64::guarded_copy(&size, engine::at_address<const void>(attr + kSizeOffset), sizeof size);
    if (size == 0) size = kSmallestAttr;
    const bool possible = size >= kSmallestAttr && size <= kLargest;
    request.from_application(attr, !readable ? 0 : possible ? size : kSizeOffset + sizeof size);
}

/// Writes the size that the kernel writes to attr.size with E2BIG. It is the answer's payload; 0 if E2BIG has another
/// cause, such as a group that is too large.
void write_size_back(std::uint64_t attr, const void* payload) {
    std::uint32_t size = 0;
    __builtin_memcpy(&size, payload, sizeof size);
    if (size != 0) engine::x86_64::guarded_copy(engine::at_address<void>(attr + kSizeOffset), &size, sizeof size);
}

/// The inode of the cgroup directory that `fd` refers to; 0 if `fd` is not one.
std::uint64_t cgroup_of(std::uint64_t fd) {
    constexpr std::uint64_t kMagics[] = {0x63677270, 0x27e0eb};  // CGROUP2_SUPER_MAGIC, CGROUP_SUPER_MAGIC
    struct statfs system{};
    struct stat about{};
    if (is_error(kernel_call(__NR_fstatfs, fd, address_of(&system))) ||
        is_error(kernel_call(__NR_fstat, fd, address_of(&about))) || !S_ISDIR(about.st_mode))
        return 0;
    for (const std::uint64_t magic : kMagics)
        if (static_cast<std::uint64_t>(system.f_type) == magic) return about.st_ino;
    return 0;
}

std::uint64_t inode_of(int fd) {
    struct stat about{};
    kernel_call(__NR_fstat, static_cast<unsigned>(fd), address_of(&about));
    return about.st_ino;
}

long make_pair(std::uint64_t type, int (&pair)[2]) {
    return kernel_call(__NR_socketpair, AF_UNIX, type, 0, address_of(pair));
}

/// Makes the event's descriptor, pair[0], and the broker's end, pair[1]. An event of the kernel needs only one
/// descriptor. So if only one is left, RLIMIT_NOFILE is raised by one for a moment. If that is not permitted, the
/// program gets EMFILE one event earlier than from the kernel.
long make_ends(bool close_on_exec, int (&pair)[2]) {
    const auto type = static_cast<unsigned>(SOCK_SEQPACKET | (close_on_exec ? SOCK_CLOEXEC : 0));
    const long made = make_pair(type, pair);
    rlimit64 limit{};
    if (made != -EMFILE || is_error(kernel_call(__NR_prlimit64, 0, RLIMIT_NOFILE, 0, address_of(&limit)))) return made;
    const rlimit64 wider{limit.rlim_cur + 1, std::max(limit.rlim_max, limit.rlim_cur + 1)};
    if (is_error(kernel_call(__NR_prlimit64, 0, RLIMIT_NOFILE, address_of(&wider), 0))) return made;
    const long again = make_pair(type, pair);
    kernel_call(__NR_prlimit64, 0, RLIMIT_NOFILE, address_of(&limit), 0);
    return again;
}

}  // namespace

long perf_event_open(Call& call) {
    engine::Engine& engine = call.engine;
    if (ensure_process(engine) == nullptr) return -ENOMEM;
    const auto [attr, pid, cpu, group, flags, rest] = call.argument;
    int pair[2] = {-1, -1};
    const long made = make_ends((flags & kCloseOnExec) != 0, pair);
    BrokerRequest request{call.thread, run::RequestKind::open};
    const auto leader = static_cast<std::int32_t>(group);
    request.argument(0, pid)
        .argument(1, cpu)
        .argument(2, leader < 0 ? std::uint64_t{0} : event_of(engine, group))
        .argument(3, flags);
    // The inode of the program's end, by which an unknown descriptor of the event is recognised (descriptors.h).
    request.argument(4, is_error(made) ? 0 : inode_of(pair[0]));
    add_attr(call, request);
    request.group_descriptor(leader);
    if ((flags & kOfCgroup) != 0) request.cgroup(cgroup_of(static_cast<std::uint32_t>(pid)));
    request.file(resolve_probed_file(engine, attr));
    if (!is_error(made)) request.descriptor(pair[1]);
    const long answer = request.send();
    if (answer < 0) {
        close_both(pair);
        if (answer == -E2BIG) write_size_back(attr, request.mailbox().payload);
        return answer;
    }
    kernel_call(__NR_close, static_cast<unsigned>(pair[1]));
    call.thread.readable.close();  // the event may have the number of one that was closed
    note_descriptor(call.thread, static_cast<unsigned>(pair[0]), request.mailbox().event);
    return pair[0];
}

}  // namespace anyperf::agent

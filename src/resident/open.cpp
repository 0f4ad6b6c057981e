// open.cpp: perf_event_open(2). The descriptor is one end of a socket pair, whose other end the broker gets: so poll,
// dup, fork, SCM_RIGHTS, close-on-exec and the last close are the kernel's.
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include <algorithm>

#include "engine/x86_64/guarded_copy.h"
#include "resident/calls.h"
#include "resident/descriptors.h"
#include "resident/probed_file.h"
#include "resident/request.h"

namespace anyperf::resident {

using engine::address_of;
using engine::is_error;
using engine::kernel_call;

namespace {

constexpr std::uint64_t kSizeOffset = 4;  // of perf_event_attr.size

void close_both(const int (&pair)[2]) {
    for (const int fd : pair)
        if (fd >= 0) kernel_call(__NR_close, static_cast<unsigned>(fd));
}

/// The attr as far as its own size says, and what the kernel's first look at it needs.
void attr_of(const Call& call, Ask& ask) {
    constexpr std::uint32_t kLargest = 4096;
    std::uint32_t size = 0;
    const std::uint64_t attr = call.argument[0];
    const bool readable =
        engine::x86_64::guarded_copy(&size, engine::at_address<const void>(attr + kSizeOffset), sizeof size);
    if (size == 0) size = PERF_ATTR_SIZE_VER0;
    // A size that the kernel refuses is all that it reads of such an attr.
    const bool possible = size >= PERF_ATTR_SIZE_VER0 && size <= kLargest;
    ask.from_application(attr, !readable ? 0 : possible ? size : kSizeOffset + sizeof size);
}

/// The cgroup whose directory this is; 0: it is none.
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

/// The event's descriptor and the broker's end. Where only one number is left, which is all that an event of the kernel
/// needs, the limit is one higher for the moment; without the right to that it is EMFILE one event sooner.
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
    if (process_of(engine) == nullptr) return -ENOMEM;
    const auto [attr, pid, cpu, group, flags, rest] = call.argument;
    int pair[2] = {-1, -1};
    const long made = make_ends((flags & PERF_FLAG_FD_CLOEXEC) != 0, pair);
    Ask ask{call.thread, RequestKind::open};
    const auto leader = static_cast<std::int32_t>(group);
    ask.with(0, pid).with(1, cpu).with(2, leader < 0 ? std::uint64_t{0} : event_of(engine, group)).with(3, flags);
    ask.with(4, is_error(made) ? 0 : inode_of(pair[0]));
    attr_of(call, ask);
    ask.group_descriptor(leader);
    if ((flags & PERF_FLAG_PID_CGROUP) != 0) ask.cgroup(cgroup_of(static_cast<std::uint32_t>(pid)));
    ask.file(probed_file(engine, attr));
    if (!is_error(made)) ask.descriptor(pair[1]);
    const long answer = ask.send();
    if (answer < 0) {
        close_both(pair);
        if (answer == -E2BIG)
            engine::x86_64::guarded_copy(engine::at_address<void>(attr + kSizeOffset), ask.mailbox().payload,
                                         sizeof(std::uint32_t));
        return answer;
    }
    kernel_call(__NR_close, static_cast<unsigned>(pair[1]));
    note_descriptor(call.thread, static_cast<unsigned>(pair[0]), ask.mailbox().event);
    return pair[0];
}

}  // namespace anyperf::resident

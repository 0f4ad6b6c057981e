// open.cpp: perf_event_open(2). The descriptor is one end of a socket pair, whose other end the broker gets: so poll,
// dup, fork, SCM_RIGHTS, close-on-exec and the last close are the kernel's.
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "engine/x86_64/guarded_copy.h"
#include "resident/calls.h"
#include "resident/descriptors.h"
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
    ask.from_application(attr, !readable || size > kLargest ? 0 : size);
    ask.with(5, readable ? size : ~std::uint64_t{0});
}

std::uint64_t inode_of(int fd) {
    struct stat about{};
    kernel_call(__NR_fstat, static_cast<unsigned>(fd), address_of(&about));
    return about.st_ino;
}

}  // namespace

long perf_event_open(Call& call) {
    engine::Engine& engine = call.engine;
    if (process_of(engine) == nullptr) return -ENOMEM;
    const auto [attr, pid, cpu, group, flags, rest] = call.argument;
    int pair[2] = {-1, -1};
    const int type = SOCK_SEQPACKET | ((flags & PERF_FLAG_FD_CLOEXEC) != 0 ? SOCK_CLOEXEC : 0);
    const long made = kernel_call(__NR_socketpair, AF_UNIX, static_cast<unsigned>(type), 0, address_of(pair));
    Ask ask{call.thread, RequestKind::open};
    const auto leader = static_cast<std::int32_t>(group);
    ask.with(0, pid).with(1, cpu).with(2, leader < 0 ? std::uint64_t{0} : event_of(engine, group)).with(3, flags);
    ask.with(4, is_error(made) ? 0 : inode_of(pair[0]));
    attr_of(call, ask);
    ask.group_descriptor(leader);
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

long stat_event(Call& call) {
    const long answer = call.pass();
    struct stat about{};
    if (is_error(answer) ||
        !engine::x86_64::guarded_copy(&about, engine::at_address<const void>(call.argument[1]), sizeof about))
        return answer;
    about.st_mode = 0600;  // an anonymous inode has no type
    about.st_size = 0;
    about.st_blocks = 0;
    engine::x86_64::guarded_copy(engine::at_address<void>(call.argument[1]), &about, sizeof about);
    return answer;
}

}  // namespace anyperf::resident

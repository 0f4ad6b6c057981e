// inode.cpp: see inode.h. All anonymous inodes of the kernel are one, so what is asked of an event's is asked of
// another descriptor that has it.
#include "resident/inode.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>

#include <algorithm>
#include <string_view>

#include "engine/x86_64/guarded_copy.h"
#include "resident/descriptors.h"
#include "resident/request.h"

namespace anyperf::resident {

using engine::address_of;
using engine::at_address;
using engine::Call;
using engine::is_error;
using engine::kernel_call;
using engine::x86_64::guarded_copy;

namespace {

long of_another(Call& call, unsigned index) {
    const long other = kernel_call(__NR_epoll_create1, EPOLL_CLOEXEC);
    if (is_error(other)) return call.pass();  // no descriptor is left: the socket's own
    Call asked = call;
    asked.argument[index] = static_cast<std::uint64_t>(other);
    const long answer = asked.pass();
    kernel_call(__NR_close, static_cast<std::uint64_t>(other));
    return answer;
}

bool is_empty_path(std::uint64_t path) {
    char first = 0;
    return path == 0 || (guarded_copy(&first, at_address<const void>(path), 1) && first == 0);
}

/// "socket:[INODE]"; 0: something else.
std::uint64_t socket_of(std::string_view link) {
    constexpr std::string_view kBegin = "socket:[";
    if (!link.starts_with(kBegin) || !link.ends_with(']')) return 0;
    std::uint64_t inode = 0;
    for (const char digit : link.substr(kBegin.size(), link.size() - kBegin.size() - 1))
        inode = inode * 10 + static_cast<std::uint64_t>(digit - '0');
    return inode;
}

/// Whether the path's last name is a number, as those of descriptors are.
bool ends_in_number(std::uint64_t path) {
    constexpr std::size_t kLongest = 64;
    char last = '/';
    for (std::size_t i = 0; i < kLongest; ++i) {
        char c = 0;
        if (!guarded_copy(&c, at_address<const void>(path + i), 1)) return false;
        if (c == 0) return last >= '0' && last <= '9';
        last = c;
    }
    return false;
}

}  // namespace

template <unsigned kIndex>
long of_anonymous_inode(Call& call, EventIndex) {
    return of_another(call, kIndex);
}

template long of_anonymous_inode<0>(Call&, EventIndex);

bool stat_by_descriptor(Call& call, long& answer) {
    const std::uint64_t flags = call.argument[call.number == __NR_statx ? 2 : 3];
    if ((flags & AT_EMPTY_PATH) == 0 || event_of(call.engine, call.argument[0]) == 0 ||
        !is_empty_path(call.argument[1]))
        return false;
    answer = of_another(call, 0);
    return true;
}

bool times_by_descriptor(Call& call, long& answer) {
    if (call.argument[1] != 0 || event_of(call.engine, call.argument[0]) == 0) return false;
    answer = of_another(call, 0);
    return true;
}

bool readlink_event(Call& call, long& answer) {
    constexpr std::string_view kLink = "anon_inode:[perf_event]";
    const bool at = call.number == __NR_readlinkat;
    const std::uint64_t path = call.argument[at ? 1 : 0];
    if (!hosted(call.engine) || !ends_in_number(path)) return false;
    const std::uint64_t directory = at ? call.argument[0] : static_cast<std::uint64_t>(AT_FDCWD);
    char room[64];
    const long got = kernel_call(__NR_readlinkat, directory, path, address_of(room), sizeof room);
    const std::uint64_t inode = got > 0 ? socket_of({room, static_cast<std::size_t>(got)}) : 0;
    if (inode == 0 || Ask{call.thread, RequestKind::identify}.with(0, inode).send() <= 0) return false;
    const auto bytes = static_cast<std::int32_t>(call.argument[at ? 3 : 2]);
    const std::uint64_t buffer = call.argument[at ? 2 : 1];
    const auto count = std::min<std::size_t>(kLink.size(), static_cast<std::size_t>(std::max(bytes, 0)));
    if (bytes <= 0)
        answer = -EINVAL;
    else
        answer = guarded_copy(at_address<void>(buffer), kLink.data(), count) ? static_cast<long>(count) : -EFAULT;
    return true;
}

}  // namespace anyperf::resident

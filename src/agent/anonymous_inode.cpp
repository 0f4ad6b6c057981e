// anonymous_inode.cpp: perf events and epoll sets share one anonymous inode. A call about an event's inode is therefore
// made on the descriptor of a temporary epoll set, which has that inode.
//
// Until it is closed, the temporary descriptor takes a number of the application's table. A fork waits until it is
// closed (DescriptorRoom holds the lock), so no child inherits it. But another thread's open() may get a number one
// higher than natively, and its close_range() may close the descriptor.
#include "agent/anonymous_inode.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>

#include <algorithm>
#include <string_view>

#include "agent/broker_request.h"
#include "agent/syscalls/descriptors.h"
#include "engine/freestanding/memory_file.h"
#include "engine/freestanding/text.h"
#include "engine/own_descriptors.h"
#include "engine/syscalls/file_writes.h"
#include "engine/syscalls/mount_files.h"
#include "engine/syscalls/proc_path.h"
#include "engine/time/virtual_clock.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::agent {

using engine::address_of;
using engine::at_address;
using engine::Call;
using engine::is_error;
using engine::kernel_call;
using engine::x86_64::guarded_copy;

namespace {

/// Makes the call with the descriptor of a new epoll set as argument `index`.
long call_on_epoll_set(Call& call, unsigned index) {
    const engine::DescriptorRoom room{call.engine};  // the application's table may be full
    const long epoll_fd = kernel_call(__NR_epoll_create1, EPOLL_CLOEXEC);
    if (is_error(epoll_fd)) return call.pass_to_kernel();  // the limit can't be raised: the socket's answer is returned
    Call changed_call = call;
    changed_call.argument[index] = static_cast<std::uint64_t>(epoll_fd);
    const long answer = changed_call.pass_to_kernel();
    kernel_call(__NR_close, static_cast<std::uint64_t>(epoll_fd));
    return answer;
}

bool is_empty_path(std::uint64_t path) {
    char first = 0;
    return path == 0 || (guarded_copy(&first, at_address<const void>(path), 1) && first == 0);
}

/// The inode in "socket:[INODE]"; 0: the link is another one.
std::uint64_t socket_inode(std::string_view link) {
    constexpr std::string_view kBegin = "socket:[";
    if (!link.starts_with(kBegin) || !link.ends_with(']')) return 0;
    std::uint64_t inode = 0;
    for (const char digit : link.substr(kBegin.size(), link.size() - kBegin.size() - 1))
        inode = inode * 10 + static_cast<std::uint64_t>(digit - '0');
    return inode;
}

/// Whether the path ends in a digit, as those of descriptors do. Saves the readlink of most paths.
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

/// "/proc/self/fd/7", with a NUL at its end. `kind`: "fd" or "fdinfo".
engine::Line path_of(std::string_view kind, std::uint64_t fd) {
    engine::Line path;
    path.text("/proc/self/").text(kind).text("/").decimal(static_cast<std::int32_t>(fd));
    path.text(std::string_view{"\0", 1});
    return path;
}

/// The text of /proc/self/fdinfo of a descriptor, in `room`. Empty if it can't be read.
std::string_view read_info(std::uint64_t fd, char* room, std::size_t bytes) {
    const engine::Line path = path_of("fdinfo", fd);
    // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): it ends with a NUL
    const long file = kernel_call(__NR_open, address_of(path.view().data()), O_RDONLY | O_CLOEXEC);
    if (is_error(file)) return {};
    const long length = kernel_call(__NR_read, static_cast<std::uint64_t>(file), address_of(room), bytes);
    kernel_call(__NR_close, static_cast<std::uint64_t>(file));
    return {room, length > 0 ? static_cast<std::size_t>(length) : 0};
}

/// The lines of `text` from the one that begins with `first` up to the end of the one that begins with `last`.
std::string_view lines_from(std::string_view text, std::string_view first, std::string_view last) {
    const std::size_t begin = text.find(first);
    const std::size_t end = text.find('\n', text.find(last));
    if (begin == std::string_view::npos || end == std::string_view::npos || end < begin) return {};
    return {text.data() + begin, end + 1 - begin};
}

/// Puts the lines of an anonymous inode, as programs see them: those of a new epoll set.
bool put_inode_lines(engine::Engine& engine, engine::Line& out) {
    const engine::DescriptorRoom room{engine};
    const long epoll_fd = kernel_call(__NR_epoll_create1, EPOLL_CLOEXEC);
    if (is_error(epoll_fd)) return false;
    const auto fd = static_cast<std::uint64_t>(epoll_fd);
    const engine::Line path = path_of("fd", fd);
    char text[256];
    for (std::string_view rest = lines_from(read_info(fd, text, sizeof text), "mnt_id:", "ino:"); !rest.empty();) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(line.size() + 1);
        engine::Line shown;
        // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): it ends with a NUL
        if (engine::has_virtual_clock(engine)) shown = engine::shown_fact(engine, line, path.view().data());
        out.text(shown.view().empty() ? line : shown.view()).text("\n");
    }
    kernel_call(__NR_close, fd);
    return true;
}

}  // namespace

template <unsigned kIndex>
long on_anonymous_inode(Call& call, EventIndex) {
    return call_on_epoll_set(call, kIndex);
}

template long on_anonymous_inode<0>(Call&, EventIndex);

bool by_empty_path(Call& call, long& answer) {
    const unsigned flags_index = call.number == __NR_statx ? 2 : call.number == __NR_fchownat ? 4 : 3;
    const std::uint64_t flags = call.argument[flags_index];
    if ((flags & AT_EMPTY_PATH) == 0 || event_of(call.engine, call.argument[0]) == 0 ||
        !is_empty_path(call.argument[1]))
        return false;
    answer = call_on_epoll_set(call, 0);
    return true;
}

bool times_by_descriptor(Call& call, long& answer) {
    if (by_empty_path(call, answer)) return true;
    if (call.argument[1] != 0 || event_of(call.engine, call.argument[0]) == 0) return false;
    answer = call_on_epoll_set(call, 0);
    return true;
}

// Position and flags are those of the event's own descriptor; mount and inode those of the anonymous
// one. The kernel prints no other line for an event (seq_show() in fs/proc/fd.c).
bool open_event_info(Call& call, std::string_view path, std::uint64_t flags, long& answer) {
    constexpr std::string_view kDirectory = "fdinfo/";
    const engine::ProcPath at = engine::parse_proc_path(path);
    if (!at.rest.starts_with(kDirectory) || at.pid != kernel_call(__NR_getpid) || engine::opens_for_writing(flags))
        return false;
    std::string_view number = at.rest;
    number.remove_prefix(kDirectory.size());
    const auto fd = static_cast<std::uint64_t>(engine::decimal_number(number));
    if ((fd == 0 && number != "0") || event_of(call.engine, fd) == 0) return false;
    char own[256];
    engine::Line text;
    text.text(lines_from(read_info(fd, own, sizeof own), "pos:", "flags:"));
    if (!put_inode_lines(call.engine, text)) return false;
    answer = engine::make_memory_file("fdinfo", text.view(), flags);
    return true;
}

bool readlink_event(Call& call, long& answer) {
    constexpr std::string_view kLink = "anon_inode:[perf_event]";
    const bool at = call.number == __NR_readlinkat;
    const std::uint64_t path = call.argument[at ? 1 : 0];
    if (!has_broker(call.engine) || !ends_in_number(path)) return false;
    const std::uint64_t directory = at ? call.argument[0] : static_cast<std::uint64_t>(AT_FDCWD);
    char link[64];
    const long length = kernel_call(__NR_readlinkat, directory, path, address_of(link), sizeof link);
    const std::uint64_t inode = length > 0 ? socket_inode({link, static_cast<std::size_t>(length)}) : 0;
    if (inode == 0 || BrokerRequest{call.thread, run::RequestKind::identify}.argument(0, inode).send() <= 0)
        return false;
    const auto bytes = static_cast<std::int32_t>(call.argument[at ? 3 : 2]);
    const std::uint64_t buffer = call.argument[at ? 2 : 1];
    const auto count = std::min<std::size_t>(kLink.size(), static_cast<std::size_t>(std::max(bytes, 0)));
    if (bytes <= 0)
        answer = -EINVAL;
    else
        answer = guarded_copy(at_address<void>(buffer), kLink.data(), count) ? static_cast<long>(count) : -EFAULT;
    return true;
}

}  // namespace anyperf::agent

#include "engine/syscalls/turns/closed_waits.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <span>
#include <string_view>

#include "engine/freestanding/descriptor_link.h"
#include "engine/freestanding/text.h"
#include "engine/shown_ids.h"
#include "engine/signals/actions.h"
#include "engine/syscalls/machine/socket_lists.h"
#include "engine/syscalls/turn_calls.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine::turn_calls {

namespace {

/// Signals that the program itself, the kernel or the run sends, or the C library to its own threads (32 and 33).
constexpr std::uint64_t kFromInside = kAlwaysCaughtSignals | signal_bit(6) | signal_bit(13) | signal_bit(14) |
                                      signal_bit(kChildSignal) | signal_bit(23) | signal_bit(24) | signal_bit(25) |
                                      signal_bit(26) | signal_bit(27) | signal_bit(31) | signal_bit(32) |
                                      signal_bit(33);
/// Those that a terminal sends: SIGINT, SIGQUIT, SIGCONT and the others of job control, SIGWINCH.
constexpr std::uint64_t kFromTerminal = signal_bit(2) | signal_bit(3) | signal_bit(kContinueSignal) | signal_bit(20) |
                                        signal_bit(21) | signal_bit(22) | signal_bit(28);

long open_file(const char* path) {
    return kernel_call(__NR_open, address_of(path), O_RDONLY | O_CLOEXEC);
}

bool has_terminal() {
    const long fd = kernel_call(__NR_open, address_of("/dev/tty"), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (is_error(fd)) return false;
    kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
    return true;
}

bool may_be_signalled(const Thread& thread) {
    const run::TurnSlot& slot = turns::slot_of(thread);
    const std::uint64_t open = slot.caught & ~slot.blocked & ~kFromInside;
    return (open & ~kFromTerminal) != 0 || (open != 0 && has_terminal());
}

/// Reads a file of /proc from its start, as far as it fits.
std::string_view read_small_file(const char* path, std::span<char> room) {
    const long fd = open_file(path);
    if (is_error(fd)) return {};
    const long got = kernel_call(__NR_read, static_cast<std::uint64_t>(fd), address_of(room.data()), room.size());
    kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
    return {room.data(), static_cast<std::size_t>(std::max(got, 0l))};
}

/// A path below /proc/self with the descriptor's number.
struct DescriptorPath {
    char name[64] = {};
    DescriptorPath(std::string_view directory, std::uint64_t fd) {
        Line line;
        line.text(directory).decimal(static_cast<std::int64_t>(fd));
        std::ranges::copy(line.view().substr(0, sizeof name - 1), name);
    }
};

bool is_unnamed_pipe(std::uint64_t fd) {
    constexpr long kPipeFs = 0x50495045;  // PIPEFS_MAGIC
    struct statfs about{};
    return !is_error(kernel_call(__NR_fstatfs, fd, address_of(&about))) && about.f_type == kPipeFs;
}

int socket_option(std::uint64_t fd, std::uint64_t option) {
    int value = -1;
    std::uint32_t bytes = sizeof value;
    kernel_call(__NR_getsockopt, fd, SOL_SOCKET, option, address_of(&value), address_of(&bytes));
    return value;
}

bool is_process_of_run(const Engine& engine, std::int32_t pid) {
    const run::Turns& turns = *engine.turns;
    return turns::any_slot(turns, [&](std::uint32_t number) {
        return turns.slot[number].pid == pid && turns::load_state(turns.slot[number]) != run::TurnState::free;
    });
}

/// Whether the other end of a connected Unix socket is one that a process of the run has made. The descriptors of
/// events are of the type SOCK_SEQPACKET, and the broker has the other end, which a process of the run has made, too.
bool is_own_socket(const Engine& engine, std::uint64_t fd) {
    if (!turns::shows_ids(engine)) return false;  // ids of this namespace are not those of the slots
    if (socket_option(fd, SO_DOMAIN) != AF_UNIX || socket_option(fd, SO_TYPE) == SOCK_SEQPACKET ||
        socket_option(fd, SO_ACCEPTCONN) != 0)
        return false;
    ucred peer{};
    std::uint32_t bytes = sizeof peer;
    return !is_error(
               kernel_call(__NR_getsockopt, fd, SOL_SOCKET, SO_PEERCRED, address_of(&peer), address_of(&bytes))) &&
           peer.pid > 0 && is_process_of_run(engine, peer.pid);
}

/// One end of a socket's connection, by getsockname(2) or getpeername(2); none: it has no address of the internet.
/// `is_local`: the address is one of this machine's loopback device.
struct SocketEnd {
    TcpEnd end{};
    bool is_local = false;

    SocketEnd(std::uint64_t fd, long call) {
        sockaddr_in6 address{};
        std::uint32_t bytes = sizeof address;
        if (is_error(kernel_call(call, fd, address_of(&address), address_of(&bytes)))) return;
        constexpr std::uint8_t kLoopback = 127;  // 127.0.0.0/8 (RFC 1122, section 3.2.1.3)
        if (address.sin6_family == AF_INET) {
            sockaddr_in shorter{};
            __builtin_memcpy(&shorter, &address, sizeof shorter);
            end = {shorter.sin_addr.s_addr, ntohs(shorter.sin_port)};
            is_local = (end.address & 0xff) == kLoopback;
        } else if (address.sin6_family == AF_INET6) {
            const in6_addr& place = address.sin6_addr;
            end = {place.s6_addr32[3], ntohs(address.sin6_port)};
            is_local = IN6_IS_ADDR_LOOPBACK(&place) || (IN6_IS_ADDR_V4MAPPED(&place) && place.s6_addr[12] == kLoopback);
        }
    }
};

/// Whether the other end of a TCP connection over the loopback device is one that a program of the run has made.
bool is_own_connection(const Engine& engine, std::uint64_t fd) {
    const int domain = socket_option(fd, SO_DOMAIN);
    if ((domain != AF_INET && domain != AF_INET6) || socket_option(fd, SO_PROTOCOL) != IPPROTO_TCP) return false;
    const SocketEnd own{fd, __NR_getsockname}, other{fd, __NR_getpeername};
    return own.is_local && other.is_local && has_made_connection(engine, other.end, own.end);
}

/// Whether some program of this machine may use asynchronous I/O (io_setup(2)). True if the count can't be read.
bool may_have_asynchronous_io() {
    char room[16];
    return read_small_file("/proc/sys/fs/aio-nr", room) != "0\n";
}

bool is_event_counter(std::uint64_t fd) {
    char room[64];
    return link_of_descriptor(fd, room) == "anon_inode:[eventfd]" && !may_have_asynchronous_io();
}

run::TurnClosed closed_kind(const Engine& engine, std::uint64_t fd) {
    using enum run::TurnClosed;
    struct stat about{};
    if (is_error(kernel_call(__NR_fstat, fd, address_of(&about)))) return no;
    if (turns::is_outside(engine, about.st_dev, about.st_ino)) return no;
    if (S_ISFIFO(about.st_mode)) return is_unnamed_pipe(fd) ? pipe : no;
    if (S_ISSOCK(about.st_mode)) return is_own_socket(engine, fd) || is_own_connection(engine, fd) ? socket : no;
    return (about.st_mode & S_IFMT) == 0 && is_event_counter(fd) ? counter : no;
}

/// A line about a descriptor that an epoll descriptor watches, "tfd: 5 events: 19 data: 5 pos:0 ino:1c sdev:9"
/// (ep_show_fdinfo() in fs/eventpoll.c).
struct WatchedDescriptor {
    std::uint64_t fd = 0;
    std::uint64_t inode = 0;
    std::uint64_t device = 0;
};

bool take_word(std::string_view& line, std::string_view key, std::uint64_t base, std::uint64_t& value) {
    const std::size_t at = line.find(key);
    if (at == std::string_view::npos) return false;
    line.remove_prefix(at + key.size());
    while (line.starts_with(' ')) line.remove_prefix(1);
    std::size_t digits = 0;
    for (value = 0; digits < line.size(); ++digits) {
        const char c = line[digits];
        const std::uint64_t digit = c >= '0' && c <= '9'   ? static_cast<std::uint64_t>(c - '0')
                                    : c >= 'a' && c <= 'f' ? static_cast<std::uint64_t>(c - 'a' + 10)
                                                           : base;
        if (digit >= base) break;
        value = value * base + digit;
    }
    return digits > 0;
}

bool parse(std::string_view line, WatchedDescriptor& out) {
    return take_word(line, "tfd:", 10, out.fd) && take_word(line, "ino:", 16, out.inode) &&
           take_word(line, "sdev:", 16, out.device);
}

/// Whether the process's descriptor of this number still is what was added to the epoll descriptor. The kernel writes
/// the device as it keeps it: 20 bits of minor number.
bool is_still(const WatchedDescriptor& watched) {
    struct stat about{};
    if (is_error(kernel_call(__NR_fstat, watched.fd, address_of(&about)))) return false;
    return about.st_ino == watched.inode && about.st_dev == makedev(static_cast<unsigned>(watched.device >> 20),
                                                                    static_cast<unsigned>(watched.device & 0xfffff));
}

/// Whether the message's ancillary data has descriptors.
bool has_descriptors(const msghdr& message) {
    const std::uint64_t place = address_of(message.msg_control);
    std::uint64_t at = 0;
    cmsghdr head{};
    while (at + sizeof head <= message.msg_controllen && x86_64::guarded_read(place + at, head)) {
        if (head.cmsg_level == SOL_SOCKET && head.cmsg_type == SCM_RIGHTS) return true;
        if (head.cmsg_len < sizeof head) break;
        at += CMSG_ALIGN(head.cmsg_len);
    }
    return false;
}

void note_message(const Call& call, const msghdr& message) {
    if (message.msg_controllen != 0 && has_descriptors(message) &&
        closed_kind(call.engine, call.argument[0]) == run::TurnClosed::no)
        call.engine.turns->descriptors_passed = 1;
}

}  // namespace

ClosedSearch::ClosedSearch(Thread& thread)
    : engine_(*thread.engine), is_closed_(engine_.turns->descriptors_passed == 0 && !may_be_signalled(thread)) {}

void ClosedSearch::add(std::uint64_t fd) {
    const run::TurnClosed kind = is_closed_ ? closed_kind(engine_, fd) : run::TurnClosed::no;
    if (kind == run::TurnClosed::no) is_closed_ = false;
    if (found_.descriptors++ == 0) found_ = {kind, fd, 1};
}

turns::Closed ClosedSearch::result() const {
    return is_closed_ ? found_ : turns::Closed{};
}

turns::Closed is_poll_closed(Thread& thread, void* context) {
    const auto& polled = *static_cast<const PolledDescriptors*>(context);
    ClosedSearch search{thread};
    for (std::uint64_t i = 0; i < polled.count && search.is_closed(); ++i) {
        pollfd one{};
        if (!x86_64::guarded_read(polled.place + i * sizeof one, one)) return {};
        if (one.fd >= 0) search.add(static_cast<std::uint64_t>(one.fd));
    }
    return search.result();
}

turns::Closed is_epoll_closed(Thread& thread, void* context) {
    const DescriptorPath path{"/proc/self/fdinfo/", static_cast<const PolledDescriptors*>(context)->place};
    char room[8192];
    std::string_view text = read_small_file(path.name, room);
    if (text.size() == sizeof room) return {};  // there may be more
    ClosedSearch search{thread};
    while (!text.empty() && search.is_closed()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (!line.starts_with("tfd:")) continue;
        WatchedDescriptor watched;
        if (!parse(line, watched) || !is_still(watched)) return {};
        search.add(watched.fd);
    }
    return search.result();
}

void after_message(Call& call, long answer) {
    msghdr message{};
    if (x86_64::guarded_read(call.argument[1], message)) note_message(call, message);
    after_transfer(call, answer);
}

void after_descriptor_taken(Call& call, long) {
    call.engine.turns->descriptors_passed = 1;
}

}  // namespace anyperf::engine::turn_calls

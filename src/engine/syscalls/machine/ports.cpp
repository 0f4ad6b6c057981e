#include "engine/syscalls/ports.h"

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "engine/syscalls/proc_path.h"
#include "engine/x86_64/cpu/guarded_copy.h"

namespace anyperf::engine {

struct PortCall::Row {
    std::uint16_t number;
    bool gives;            ///< the program gives the address; else it gets one
    std::uint8_t address;  ///< the argument that is the address, or a message header
    std::uint8_t length;   ///< the argument that is its length, or where that is; 0: it is a message header
};

namespace {

using Row = PortCall::Row;

constexpr std::array kRows{
    Row{__NR_connect, true, 1, 2},   Row{__NR_accept, false, 1, 2},      Row{__NR_sendto, true, 4, 5},
    Row{__NR_recvfrom, false, 4, 5}, Row{__NR_sendmsg, true, 1, 0},      Row{__NR_recvmsg, false, 1, 0},
    Row{__NR_bind, true, 1, 2},      Row{__NR_getsockname, false, 1, 2}, Row{__NR_getpeername, false, 1, 2},
    Row{__NR_accept4, false, 1, 2},
};
static_assert(std::ranges::is_sorted(kRows, {}, &Row::number));
constexpr std::uint64_t kHighest = __NR_accept4;

constexpr auto kIndexOf = [] {
    std::array<std::uint8_t, kHighest + 1> table{};
    for (std::size_t i = 0; i < kRows.size(); ++i) table[kRows[i].number] = static_cast<std::uint8_t>(i + 1);
    return table;
}();

constexpr std::uint16_t swapped(std::uint16_t port) {
    return static_cast<std::uint16_t>(port << 8 | port >> 8);
}

/// Removes the number at the beginning of `text`, and `end` after it. Returns the number; 0 if `text` begins with none.
std::int32_t take_number(std::string_view& text, char end) {
    const std::size_t length = std::min(text.find(end), text.size());
    std::string_view digits = text;
    digits.remove_suffix(text.size() - length);
    text.remove_prefix(std::min(length + 1, text.size()));
    return decimal_number(digits);
}

/// Reads the range from which the kernel chooses; its default if it cannot be read.
void learn_range(run::ShownPorts& ports) {
    char text[32] = {};
    const long fd = kernel_call(__NR_open, address_of("/proc/sys/net/ipv4/ip_local_port_range"), O_RDONLY | O_CLOEXEC);
    if (!is_error(fd)) {
        kernel_call(__NR_read, static_cast<std::uint64_t>(fd), address_of(text), sizeof text - 1);
        kernel_call(__NR_close, static_cast<std::uint64_t>(fd));
    }
    std::string_view all{text};
    const std::int32_t first = take_number(all, '\t');
    const std::int32_t last = take_number(all, '\n');
    ports.first = first > 0 ? static_cast<std::uint32_t>(first) : 32'768;
    ports.last = last > 0 ? static_cast<std::uint32_t>(last) : 60'999;
    __atomic_store_n(&ports.has_range, 1, __ATOMIC_RELEASE);
}

bool is_chosen(const run::ShownPorts& ports, std::uint16_t port) {
    return port >= ports.first && port <= ports.last;
}

/// The next number.
std::uint16_t next_number(run::ShownPorts& ports) {
    const std::uint32_t index = __atomic_fetch_add(&ports.given, 1, __ATOMIC_RELAXED) % run::kShownPorts;
    return static_cast<std::uint16_t>(run::kFirstShownPort + index);
}

/// The kernel's port is shown as the number.
void name_port(run::ShownPorts& ports, std::uint16_t number, std::uint16_t real) {
    std::uint16_t& old = ports.real_of[number - run::kFirstShownPort];
    if (old != 0 && ports.shown_of[old] == number) ports.shown_of[old] = 0;
    old = real;
    ports.shown_of[real] = number;
}

std::uint16_t shown_port(run::ShownPorts& ports, std::uint16_t real) {
    if (ports.shown_of[real] == 0 && is_chosen(ports, real)) name_port(ports, next_number(ports), real);
    return ports.shown_of[real] != 0 ? ports.shown_of[real] : real;
}

/// The kernel's port for one that a program names.
std::uint16_t real_port(run::ShownPorts& ports, std::uint16_t named) {
    if (named >= run::kFirstShownPort) {
        const std::uint16_t real = ports.real_of[named - run::kFirstShownPort];
        return real != 0 ? real : named;
    }
    if (is_chosen(ports, named) && ports.shown_of[named] == 0) ports.shown_of[named] = named;
    return named;
}

/// The port that the kernel has given the socket; 0: none, or it is not an internet socket.
std::uint16_t port_of(std::uint64_t fd) {
    sockaddr_in6 address{};
    std::uint32_t bytes = sizeof address;
    const bool known = !is_error(kernel_call(__NR_getsockname, fd, address_of(&address), address_of(&bytes)));
    const bool is_internet = address.sin6_family == AF_INET || address.sin6_family == AF_INET6;
    return known && is_internet ? swapped(address.sin6_port) : 0;
}

static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));

}  // namespace

run::ShownPorts& shown_ports(const Engine& engine) {
    auto& ports = *at_address<run::ShownPorts>(address_of(engine.run_use) + run::kShownPortsOffset);
    if (__atomic_load_n(&ports.has_range, __ATOMIC_ACQUIRE) == 0) learn_range(ports);
    return ports;
}

std::uint16_t shown_port(const Engine& engine, std::uint16_t real) {
    return real != 0 ? shown_port(shown_ports(engine), real) : real;
}

PortCall::PortCall(Call& call) : call_(call) {
    if (call.number > kHighest || kIndexOf[call.number] == 0) return;
    row_ = &kRows[kIndexOf[call.number] - 1];
    if (!row_->gives) return;
    const std::uint64_t place = call.argument[row_->address];
    if (row_->length != 0) {
        if (read_address(place, call.argument[row_->length])) give_real_address();
        return;
    }
    if (!x86_64::guarded_copy(&message_, at_address<const void>(place), sizeof message_) ||
        !read_address(address_of(message_.msg_name), message_.msg_namelen))
        return;
    give_real_address();
    message_.msg_name = &address_;
    call.argument[row_->address] = address_of(&message_);
}

/// Reads an address from the program's memory. False: it is of a family whose numbers are not translated.
bool PortCall::read_address(std::uint64_t from, std::uint64_t bytes) {
    if (from == 0 || bytes < ChosenName::kBytes || bytes > sizeof(sockaddr_storage)) return false;
    address_ = {};
    if (!x86_64::guarded_copy(&address_, at_address<const void>(from), std::min<std::uint64_t>(bytes, sizeof address_)))
        return false;
    switch (address_.four.sin_family) {
        case AF_INET: return bytes >= sizeof(sockaddr_in);
        case AF_INET6: return bytes >= sizeof(sockaddr_in6);
        case AF_UNIX: return bytes == ChosenName::kBytes && address_.local.name.is_chosen();
        case AF_NETLINK: return bytes >= sizeof(sockaddr_nl);
        default: return false;
    }
}

void PortCall::give_real_address() {
    if (address_.four.sin_family == AF_NETLINK) return give_port_id();
    given_ = call_.argument[row_->address];
    if (address_.four.sin_family == AF_UNIX)
        give_real_name(call_.engine, address_.local.name);
    else
        give_real_port();
    if (row_->length != 0) call_.argument[row_->address] = address_of(&address_);
}

void PortCall::give_port_id() {
    if (call_.number != __NR_bind) return bind_if_unbound(call_);
    chooses_id_ = address_.netlink.nl_pid == 0;
    if (!chooses_id_) return;
    given_ = call_.argument[row_->address];
    address_.netlink.nl_pid = first_port_id(call_.thread);
    call_.argument[row_->address] = address_of(&address_);
}

void PortCall::give_real_port() {
    run::ShownPorts& ports = shown_ports(call_.engine);
    const std::uint16_t named = swapped(address_.four.sin_port);
    chooses_ = call_.number == __NR_bind && named == 0;
    connects_ = call_.number == __NR_connect && port_of(call_.argument[0]) == 0;
    address_.four.sin_port = swapped(chooses_ ? next_number(ports) : real_port(ports, named));
}

/// bind(2) to the port that the run has chosen was refused: the kernel chooses.
long PortCall::bind_anywhere() {
    const std::uint16_t number = swapped(address_.four.sin_port);
    address_.four.sin_port = 0;
    const long answer = kernel_call(__NR_bind, call_.argument[0], address_of(&address_), call_.argument[2]);
    if (!is_error(answer)) name_port(shown_ports(call_.engine), number, port_of(call_.argument[0]));
    return answer;
}

/// Translates the address that a call has stored.
void PortCall::show_address(std::uint64_t at, std::uint64_t bytes) const {
    if (Local local{}; bytes == sizeof local && at != 0 && x86_64::guarded_read(at, local) && local.family == AF_UNIX &&
                       local.name.is_chosen()) {
        show_name(call_.engine, local.name);
        x86_64::guarded_write(at, local);
        return;
    }
    std::uint16_t start[2];  // family and port
    if (at == 0 || bytes < sizeof start || !x86_64::guarded_copy(start, at_address<const void>(at), sizeof start) ||
        (start[0] != AF_INET && start[0] != AF_INET6))
        return;
    const std::uint16_t real = swapped(start[1]);
    const std::uint16_t shown = shown_port(call_.engine, real);
    if (shown == real) return;
    start[1] = swapped(shown);
    x86_64::guarded_copy(at_address<void>(at), start, sizeof start);
}

long PortCall::finish_row(long answer) {
    if (given_ != 0) call_.argument[row_->address] = given_;
    if (answer == kRestartSyscall) return answer;
    if (chooses_id_) return answer == -EADDRINUSE ? bind_to_another_id(call_, address_.netlink) : answer;
    if (chooses_) {
        if (answer == -EADDRINUSE) return bind_anywhere();
        const std::uint16_t number = swapped(address_.four.sin_port);
        if (!is_error(answer)) name_port(shown_ports(call_.engine), number, number);
        return answer;
    }
    if (connects_) {
        const std::uint16_t real = is_error(answer) && answer != -EINPROGRESS ? 0 : port_of(call_.argument[0]);
        run::ShownPorts& ports = shown_ports(call_.engine);
        if (real != 0 && is_chosen(ports, real)) name_port(ports, next_number(ports), real);
        return answer;
    }
    if (row_->gives || is_error(answer)) return answer;
    const std::uint64_t place = call_.argument[row_->address];
    if (row_->length == 0) {
        msghdr message;
        if (x86_64::guarded_copy(&message, at_address<const void>(place), sizeof message))
            show_address(address_of(message.msg_name), message.msg_namelen);
        return answer;
    }
    std::uint32_t bytes = 0;
    if (place != 0 && x86_64::guarded_copy(&bytes, at_address<const void>(call_.argument[row_->length]), sizeof bytes))
        show_address(place, bytes);
    return answer;
}

}  // namespace anyperf::engine

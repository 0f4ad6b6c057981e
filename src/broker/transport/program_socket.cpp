// program_socket.cpp: getsockopt(2) reports the process that made a socket pair (SO_PEERCRED, unix(7)).
#include "broker/transport/program_socket.h"

#include <sys/socket.h>

#include <array>
#include <cstring>

namespace anyperf::broker {

bool is_made_by(int fd, std::int32_t process) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.pid == process;
}

bool is_packet_socket(int fd) {
    const auto option = [fd](int name) {
        int value = -1;
        socklen_t size = sizeof value;
        return ::getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
    };
    return option(SO_DOMAIN) == AF_UNIX && option(SO_TYPE) == SOCK_SEQPACKET;
}

bool is_program_socket(int fd, std::int32_t process) {
    return is_packet_socket(fd) && is_made_by(fd, process);
}

void send_with_descriptor(int socket, std::span<const std::byte> message, int descriptor) {
    iovec part{const_cast<std::byte*>(message.data()), message.size()};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    if (descriptor >= 0) {
        header.msg_control = control.data();
        header.msg_controllen = control.size();
        cmsghdr* const rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        std::memcpy(CMSG_DATA(rights), &descriptor, sizeof descriptor);
    }
    [[maybe_unused]] const ssize_t sent = ::sendmsg(socket, &header, MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace anyperf::broker

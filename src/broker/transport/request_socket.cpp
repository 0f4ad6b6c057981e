// request_socket.cpp: recvmsg(2), and the descriptor that comes with a datagram.
#include "broker/transport/request_socket.h"

#include <sys/socket.h>

#include <array>
#include <cstring>

namespace anyperf::broker {

namespace {

constexpr std::size_t kMostDescriptors = 8;  ///< the kernel drops further ones (MSG_CTRUNC)

/// Takes over the descriptors of a control message. One is expected; of several the last is kept.
void take_descriptors(const cmsghdr& header, OwnedFd& kept) {
    for (std::size_t at = 0; at + sizeof(int) <= header.cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(&header) + at, sizeof fd);
        kept = OwnedFd{fd};
    }
}

/// Takes over what the kernel has put beside the datagram: the sender's process and descriptors.
void take_control(msghdr& message, ReceivedRequest& out) {
    for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET) continue;
        if (header->cmsg_type == SCM_RIGHTS) take_descriptors(*header, out.descriptor);
        if (header->cmsg_type != SCM_CREDENTIALS) continue;
        ucred sender{};
        std::memcpy(&sender, CMSG_DATA(header), sizeof sender);
        out.sender = sender.pid;
    }
}

}  // namespace

bool RequestSocket::receive(ReceivedRequest& out) {
    iovec part{&out.request, sizeof out.request};
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(ucred)) + CMSG_SPACE(sizeof(int) * kMostDescriptors)> control;
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const ssize_t got = ::recvmsg(fd_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    // An empty datagram comes with its sender (SO_PASSCRED); the end of file comes with nothing.
    if (got == 0 && message.msg_controllen == 0) closed_ = true;
    if (got < 0 || closed_) return false;
    out.bytes = static_cast<std::size_t>(got);
    out.sender = 0;
    out.descriptor = OwnedFd{};
    take_control(message, out);
    return true;
}

}  // namespace anyperf::broker

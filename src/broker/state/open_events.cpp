// open_events.cpp: the sockets of events, by index and by inode.
#include "broker/state/open_events.h"

#include <sys/socket.h>
#include <unistd.h>

#include <utility>

#include "broker/transport/program_socket.h"

namespace anyperf::broker {

using subsystem::EventIndex;

void OpenEvents::add(EventIndex event, OwnedFd socket, std::uint64_t inode) {
    by_inode_[inode] = event;
    events_[event] = {std::move(socket), inode};
}

bool OpenEvents::remove(EventIndex event) {
    const auto known = events_.find(event);
    if (known == events_.end()) return false;
    by_inode_.erase(known->second.inode);
    events_.erase(known);
    return true;
}

EventIndex OpenEvents::with_inode(std::uint64_t inode) const {
    const auto known = by_inode_.find(inode);
    return known == by_inode_.end() ? 0 : known->second;
}

/// Nothing is written to a socket of another kind than the agent makes, which a program may have passed.
void OpenEvents::write_to(Socket& socket) {
    if (!socket.is_packet_socket) socket.is_packet_socket = is_packet_socket(socket.fd.get());
    // If the socket is full, it already has an unread byte, and that is enough.
    if (*socket.is_packet_socket) ::send(socket.fd.get(), "", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
}

void OpenEvents::signal_poll_change(EventIndex event) {
    const auto known = events_.find(event);
    constexpr std::uint64_t kOnce = 1;
    if (known != events_.end())
        write_to(known->second);
    else if (own_ >= 0) {
        [[maybe_unused]] const ssize_t written = ::write(own_, &kOnce, sizeof kOnce);
    }
}

}  // namespace anyperf::broker

// open_events.h: the events that programs have open, and the broker's ends of their socket pairs. A program's
// descriptor is the other end; when all its copies are closed, the broker's end reports end of file.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "broker/run_memory.h"
#include "subsystem/host.h"

namespace anyperf::broker {

class OpenEvents {
  public:
    bool contains(subsystem::EventIndex event) const { return events_.contains(event); }
    /// `socket` is the broker's end, which is_made_by() the program; `inode` is that of the program's end.
    void add(subsystem::EventIndex event, OwnedFd socket, std::uint64_t inode);
    /// Closes the socket. False if the event is not open.
    bool remove(subsystem::EventIndex event);
    /// The event whose program's end has this inode; 0 if there is none.
    subsystem::EventIndex with_inode(std::uint64_t inode) const;
    /// Makes the program's end readable, so that a program that polls it asks for the event's state
    /// (RequestKind::poll). An event without a socket belongs to the broker's own process: for it, the eventfd of
    /// signal_own() becomes readable.
    void signal_poll_change(subsystem::EventIndex event);
    /// Sets the eventfd that becomes readable when an event without a socket changes; -1: none.
    void signal_own(int eventfd) { own_ = eventfd; }

  private:
    struct Socket {
        OwnedFd fd;
        std::uint64_t inode = 0;
        std::optional<bool> is_packet_socket = {};  ///< known from the first write on
    };

    void write_to(Socket& socket);

    std::unordered_map<subsystem::EventIndex, Socket> events_;
    std::unordered_map<std::uint64_t, subsystem::EventIndex> by_inode_;
    int own_ = -1;
};

}  // namespace anyperf::broker

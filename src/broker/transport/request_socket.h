// request_socket.h: the broker's end of the socket on which all programs of a run send their requests (run/protocol.h).
#pragma once

#include <cstddef>
#include <utility>

#include "broker/run_memory.h"
#include "run/protocol.h"

namespace anyperf::broker {

/// A datagram as it came. Nothing in it has been checked.
struct ReceivedRequest {
    run::Request request;
    std::size_t bytes = 0;    ///< of the datagram; what is after them in `request` is left from an earlier one
    std::int32_t sender = 0;  ///< its process, as the kernel says; 0: not in a pid namespace that this process sees
    OwnedFd descriptor;       ///< sent along (SCM_RIGHTS); -1 for none
};

class RequestSocket {
  public:
    explicit RequestSocket(OwnedFd fd) : fd_(std::move(fd)) {}

    int fd() const { return fd_.get(); }
    /// Takes the next datagram, without waiting. False if there is none, or if no program is left.
    bool receive(ReceivedRequest& out);
    /// The last program of the run has closed its end: there are no more requests.
    bool closed() const { return closed_; }

  private:
    OwnedFd fd_;
    bool closed_ = false;
};

}  // namespace anyperf::broker

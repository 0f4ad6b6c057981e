// descriptor_set.h: what the broker's event loop waits for: an epoll set whose entries say what they are.
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <span>

#include "broker/run_memory.h"

namespace anyperf::broker {

/// Why the loop waits for a descriptor (broker/server.h).
enum class DescriptorKind : std::uint32_t { requests, command, event, process, wake };

struct ReadyDescriptor {
    DescriptorKind kind = DescriptorKind::requests;
    std::uint32_t number = 0;  ///< as passed to add(): an event's index or a process's id
};

/// The set may be changed while another thread waits.
class DescriptorSet {
  public:
    DescriptorSet();

    void add(int fd, DescriptorKind kind, std::uint32_t number = 0);
    /// Does nothing if the descriptor is not in the set. A closed descriptor needs no removal.
    void remove(int fd);
    /// Waits until a descriptor is readable or hung up, at most `timeout_ms`; -1: without a limit. Returns how many
    /// entries of `ready` it has filled, or a number below 0 after a signal.
    int wait(std::span<epoll_event> ready, int timeout_ms) const;

    static ReadyDescriptor described(const epoll_event& ready);

  private:
    OwnedFd epoll_;
};

}  // namespace anyperf::broker

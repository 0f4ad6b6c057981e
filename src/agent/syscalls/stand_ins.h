// stand_ins.h: descriptors that the kernel gets for a moment instead of that of an event, which is a socket here, so
// that it answers as it would on an event.
#pragma once

#include "agent/process.h"
#include "engine/syscalls/call.h"

namespace anyperf::agent {

/// A descriptor of the agent's that is closed at the end. -1, which is no descriptor, if it can't be made.
class OwnDescriptor {
  public:
    OwnDescriptor() = default;
    OwnDescriptor(const OwnDescriptor&) = delete;
    OwnDescriptor& operator=(const OwnDescriptor&) = delete;
    ~OwnDescriptor();

    /// The descriptor that `make` has returned at the first call.
    std::int32_t get(engine::Engine& engine, long (*make)());

  private:
    std::int32_t fd_ = -1;
};

/// Each one is made when it is first needed.
class StandIns {
  public:
    explicit StandIns(engine::Call& call) : call_{call} {}

    /// As an event, it can't be read or written, and is no socket.
    std::int32_t epoll_set();

    /// A file with these bytes; their offset is stored in `at`.
    std::int32_t with_bytes(const void* bytes, std::size_t count, std::uint64_t& at);

    /// What a poll of the event with descriptor `fd` is to poll instead: `fd` if it has to wait. `events` becomes what
    /// an event can report. As with poll(2), a wake-up is seen once.
    std::int32_t polled(std::int32_t fd, EventIndex event, std::uint32_t& events);

  private:
    std::int32_t hung_up();
    std::int32_t readable();

    engine::Call& call_;
    OwnDescriptor epoll_set_, hung_up_, readable_, bytes_;
    std::uint64_t bytes_end_ = 0;
};

}  // namespace anyperf::agent

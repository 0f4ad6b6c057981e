// closed_waits.h: waits for descriptors that nothing outside of the run can end. If all threads are in such waits, they
// wait for each other (engine/turns/turns.h, "The outside").
//
// It is asked when all threads have waited for two seconds, and answered "no" wherever it is not certain:
// - An unnamed pipe that the run has made is closed, and so is a Unix socket that a process of the run has made or
//   connected (SO_PEERCRED), a TCP connection over the loopback device whose other end is a socket of the run, and an
//   eventfd while no program of the machine has asynchronous I/O, whose end it could count. A pipe with a name, all
//   other sockets of the network, one that listens, a terminal, and all other kinds of descriptors are not: others may
//   write there, or time or the kernel ends the wait. A pipe with a name is often held open at both ends by a program
//   that awaits others' commands (`exec 3<>pipe`), so that the run has both ends says nothing.
// - Once a program has exchanged descriptors with another one by a socket that is not closed, or taken one from a
//   process, no descriptor is.
// - A thread that handles a signal which others send (SIGTERM, SIGUSR1 and so on; SIGINT if the process has a terminal)
//   may wait for that signal: its handler often writes to a pipe of its own.
#pragma once

#include <cstdint>

#include "engine/turns/turns.h"

namespace anyperf::engine::turn_calls {

/// Asks about one descriptor after the other.
class ClosedSearch {
  public:
    explicit ClosedSearch(Thread& thread);

    void add(std::uint64_t fd);
    /// Whether all so far are closed.
    bool is_closed() const { return is_closed_; }
    /// The answer for all that were added. Without any, others end the wait: by a signal.
    turns::Closed result() const;

  private:
    Engine& engine_;
    turns::Closed found_;
    bool is_closed_;
};

/// The descriptors of a wait by poll(2): an array of pollfd. Or by epoll_wait(2): `place` is the descriptor.
struct PolledDescriptors {
    std::uint64_t place;
    std::uint64_t count;
};

// For turns::Wait. The context is a PolledDescriptors.
turns::Closed is_poll_closed(Thread& thread, void* context);
turns::Closed is_epoll_closed(Thread& thread, void* context);

}  // namespace anyperf::engine::turn_calls

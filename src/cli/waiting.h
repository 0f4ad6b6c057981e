// waiting.h: how a verb waits: for its command's end, for the end of the processes that it watches, for a signal, or
// for a moment, whichever comes first.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "anyperf/error.h"

namespace anyperf::cli {

/// Nanoseconds of CLOCK_MONOTONIC.
std::uint64_t now_ns();

/// Holds back the signals that end a program while it lives, and gives them out one by one. Make it before anything
/// forks; what was ignored when we started stays ignored.
class SignalGate {
  public:
    static Result<SignalGate> close_gate();
    SignalGate(SignalGate&& other) noexcept;
    SignalGate& operator=(SignalGate&&) = delete;
    ~SignalGate();

    /// Signals as they were before: what a command is to have. For its child; the destructor does it here.
    void restore() const;
    int fd() const { return fd_; }

    struct Arrived {
        int number = 0;
        bool from_terminal = false;  ///< then the command has got it as well
    };
    /// The next signal that has arrived; SIGCHLD is left out.
    std::optional<Arrived> next();

  private:
    SignalGate() = default;

    sigset_t outer_{};
    struct sigaction outer_child_{};
    int fd_ = -1;
};

/// Processes and threads that somebody else started.
class Watched {
  public:
    explicit Watched(std::span<const pid_t> ids);
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;
    ~Watched();

    bool any_alive();
    /// Descriptors that are readable when a process has ended.
    std::span<const int> fds() const { return fds_; }
    /// Threads have no such descriptor before Linux 6.9: they must be looked at now and then.
    bool must_poll() const { return !threads_.empty(); }

  private:
    std::vector<int> fds_;
    std::vector<pid_t> threads_;
};

/// Waits until `deadline_ns` (now_ns(); none: for ever), a signal, or the end of the command or of a watched process.
void wait_for_something(const SignalGate& gate, const Watched& watched, std::optional<std::uint64_t> deadline_ns);

}  // namespace anyperf::cli

// signal_forwarding.h: forwards signals from the broker to its command. A user who sends SIGTERM to `anyperf run` means
// the command. Signals of the terminal need no forwarding: the kernel sends them to the whole process group.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>

namespace anyperf::broker {

/// The constructor blocks the signals, so that none is lost while the command is started; forward_to() sends them to
/// the child from then on; the destructor restores everything. Signals that were ignored stay ignored. Only one object
/// at a time in a process.
class SignalForwarder {
  public:
    SignalForwarder();
    SignalForwarder(const SignalForwarder&) = delete;
    SignalForwarder& operator=(const SignalForwarder&) = delete;
    ~SignalForwarder();

    /// In the parent, after the fork.
    void forward_to(pid_t child);
    /// In the child, before its exec: restores the mask and SIGCHLD.
    void restore() const;

  private:
    static constexpr std::array kSignals{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};

    sigset_t mask_{};
    struct sigaction child_ends_{};
    std::array<struct sigaction, kSignals.size()> actions_{};
};

}  // namespace anyperf::broker

// signals.h: what is sent to the broker alone is meant for the command that it runs.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>

namespace anyperf::broker {

/// From the constructor on such signals wait; from `hand_on_to` on they go to the child; the destructor puts back what
/// was there. What the terminal sends reaches the command by itself, and is left to it. What was ignored stays ignored.
/// One at a time in a process.
class SignalsForCommand {
  public:
    SignalsForCommand();
    SignalsForCommand(const SignalsForCommand&) = delete;
    SignalsForCommand& operator=(const SignalsForCommand&) = delete;
    ~SignalsForCommand();

    void hand_on_to(pid_t child);
    /// In the child, before its exec: what was there before.
    void restore() const;

  private:
    static constexpr std::array kSignals{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM};

    sigset_t mask_{};
    struct sigaction child_ends_{};
    std::array<struct sigaction, kSignals.size()> actions_{};
};

}  // namespace anyperf::broker

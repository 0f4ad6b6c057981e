// command.h: the program that a verb runs and measures. It keeps the terminal, the standard streams, the signal
// dispositions and the process group that it would have without us; its end becomes ours.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "cli/waiting.h"

namespace anyperf::broker {
class Hosting;
}

namespace anyperf::cli {

/// How a command ended.
struct Ending {
    int exit_status = 0;  ///< of exit(2); 128 + signal where a signal killed it
    int signal = 0;       ///< that killed it, or 0
    rusage usage{};       ///< its own and that of its children it waited for
};

/// Of a status as wait(2) gives it; without the usage.
Ending ending_of(int wait_status);

/// A child that exists and waits before its exec, so that events can be opened on it.
class Command {
  public:
    /// Forks. The command has the signals of before `gate`; it becomes a program of `run`, where there is one. Error:
    /// no more processes.
    static Result<Command> fork(std::span<const std::string> words, const SignalGate& gate,
                                broker::Hosting* run = nullptr);
    Command(Command&& other) noexcept;
    Command& operator=(Command&&) = delete;
    /// A command that was not let go never runs; one that runs is terminated and waited for.
    ~Command();

    pid_t pid() const { return pid_; }

    /// Lets it execute, and waits until it does. Error, exit_status 127: there is no such program; 126: it can't be
    /// executed.
    Result<void> execute();

    /// True when it has ended; then `ending` is filled. Doesn't wait. Error: it never began, and who should have run it
    /// has said why.
    Result<bool> ended(Ending& ending);
    void send(int signal) const;

  private:
    Command() = default;

    std::vector<std::string> words_;
    broker::Hosting* run_ = nullptr;
    pid_t pid_ = -1;
    int go_ = -1;
    int failed_ = -1;
};

/// Ends this process as the command ended, if a signal killed it: a shell then says and does what it would without us.
/// Returns where the command exited by itself. Streams must be flushed before.
void die_as(const Ending& ending);

}  // namespace anyperf::cli

// command.h: the program that a verb runs and measures. The command keeps the terminal, the standard streams, the
// signal dispositions and the process group that it would have without anyperf, and its exit status becomes anyperf's.
//
// A command starts in two steps. fork() creates a process that waits on a pipe, so that events can be opened on its pid
// (with enable_on_exec) before it runs anything. execute() lets that process call exec.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "anyperf/error.h"
#include "cli/command/waiting.h"

namespace anyperf::broker {
class HostedRun;
}

namespace anyperf::cli {

/// How a command ended.
struct ExitInfo {
    int exit_status = 0;  ///< the value given to exit(2); 128 + signal if a signal killed the command, as in a shell
    int signal = 0;       ///< the signal that killed the command, or 0
    rusage usage{};       ///< of the command and of the children that it waited for (wait4(2))
};

/// Decodes a status as wait(2) returns it. `usage` stays zero.
ExitInfo exit_info_of(int wait_status);

/// A child process. Move-only.
class Command {
  public:
    /// Forks; the child waits for execute(). `words` are the program and its arguments (at least one word). The child
    /// gets back the signal mask and dispositions that `signals` saved. With `run`, which must outlive the command, the
    /// child executes the engine and becomes a program of that run. Error: pipe or fork failed, or, with `run`, the
    /// command does not exist or may not be executed (exit_status 127 or 126).
    static Result<Command> fork(std::span<const std::string> words, const BlockedSignals& signals,
                                broker::HostedRun* run = nullptr);
    Command(Command&& other) noexcept;
    Command& operator=(Command&&) = delete;
    /// If execute() was never called, the child exits without running the command. If the command still runs, it gets
    /// SIGTERM. Either way the destructor waits for the child.
    ~Command();

    pid_t pid() const { return pid_; }

    /// Lets the child call exec, and returns once that has succeeded or failed. Error: the program does not exist
    /// (exit_status 127) or cannot be executed (126). In a run the exec starts the engine. If the engine then cannot
    /// start the command, try_wait() returns the error.
    Result<void> execute();

    /// Reaps the child if it has ended, without waiting: returns true and fills `exit_info`. Must not be called again
    /// after that. Error (with empty texts): the engine ended before the command began; it has already printed why.
    Result<bool> try_wait(ExitInfo& exit_info);
    /// Sends a signal to the command; does nothing if the command has been reaped.
    void send(int signal) const;

  private:
    Command() = default;

    std::vector<std::string> words_;
    broker::HostedRun* run_ = nullptr;
    pid_t pid_ = -1;
    int start_pipe_ = -1;  ///< write end: a byte starts the command, end of file makes the child exit
    int error_pipe_ = -1;  ///< read end: the errno of a failed exec, or end of file when exec has closed it
};

/// If a signal killed the command, kills this process by the same signal, so that a shell reacts as it would without
/// anyperf. Returns if the command exited normally. The caller must flush its streams first.
void die_by_signal_of(const ExitInfo& exit_info);

}  // namespace anyperf::cli

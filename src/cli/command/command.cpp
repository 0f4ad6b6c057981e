// command.cpp: forks, starts and reaps the command. The child of fork makes no call that could need a lock or memory,
// because anyperf may have other threads. The broker of a hosted run is one, and may hold the allocator's lock at the
// moment of the fork.
#include "cli/command/command.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "broker/hosted_run.h"
#include "broker/launch/command_file.h"
#include "cli/command/prepared_exec.h"
#include "try.h"

namespace anyperf::cli {

namespace {

constexpr int kNotFound = 127;  // the exit status of a shell and of env(1)

std::string message(int errno_value) {
    return std::generic_category().message(errno_value);
}

/// Runs in the child: waits for the byte that starts the command, then executes it. `start` is the read end of the
/// start pipe, `failed` the write end of the error pipe. Both are close-on-exec, so a successful exec shows to the
/// parent as end of file. Nothing here may allocate: see the head of this file.
[[noreturn]] void wait_and_execute(PreparedExec& program, int start, int failed, const BlockedSignals& signals,
                                   const broker::HostedRun* run) {
    char byte = 0;
    while (::read(start, &byte, 1) < 0 && errno == EINTR) {
    }
    if (byte != 1) ::_exit(0);  // end of file: the parent gave up
    signals.restore();
    const int error = run != nullptr ? run->execute() : program.execute();
    [[maybe_unused]] const ssize_t written = ::write(failed, &error, sizeof error);
    ::_exit(kNotFound);
}

}  // namespace

// Two pipes. `start` makes the child wait until the events are open; if this process ends before, the child sees end of
// file and exits. `failed` carries the errno of a failed exec; a successful exec closes it.
Result<Command> Command::fork(std::span<const std::string> words, const BlockedSignals& signals,
                              broker::HostedRun* run) {
    Command command;
    command.run_ = run;
    if (run != nullptr) TRY(run->prepare(words));
    command.words_.assign(words.begin(), words.end());
    PreparedExec program{command.words_};
    std::array<int, 2> start{};
    std::array<int, 2> failed{};
    const bool has_start = ::pipe2(start.data(), O_CLOEXEC) == 0;
    if (!has_start || ::pipe2(failed.data(), O_CLOEXEC) != 0) {
        const int cause = errno;
        if (has_start)
            for (const int end : start) ::close(end);
        return std::unexpected(Error{"cannot start " + words.front(), "cannot create a pipe: " + message(cause),
                                     "raise the limit on open descriptors (ulimit -n)"});
    }
    const pid_t pid = ::fork();
    const int error = errno;
    if (pid == 0) {
        ::close(start[1]);  // else the child would never see end of file
        wait_and_execute(program, start[0], failed[1], signals, run);
    }
    ::close(start[0]);
    ::close(failed[1]);
    command.start_pipe_ = start[1];
    command.error_pipe_ = failed[0];
    command.pid_ = pid;
    if (pid < 0)
        return std::unexpected(Error{"cannot start " + words.front(), "fork: " + message(error),
                                     "see `ulimit -u` and the pids limit of the cgroup"});
    // From here on the run knows the process, so that events can be opened on it before its exec.
    if (run != nullptr) run->forked(pid);
    return command;
}

Command::Command(Command&& other) noexcept
    : words_(std::move(other.words_)),
      run_(other.run_),
      pid_(std::exchange(other.pid_, -1)),
      start_pipe_(std::exchange(other.start_pipe_, -1)),
      error_pipe_(std::exchange(other.error_pipe_, -1)) {}

// A command that was never started exits by itself; one that runs gets SIGTERM. Either is reaped, so that no zombie is
// left.
Command::~Command() {
    const bool started = start_pipe_ < 0;
    if (!started) ::close(start_pipe_);  // the child sees end of file, and exits
    if (error_pipe_ >= 0) ::close(error_pipe_);
    if (pid_ <= 0) return;
    if (started) ::kill(pid_, SIGTERM);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

// The read returns once the exec has closed the pipe, or has failed and its errno is in the pipe.
Result<void> Command::execute() {
    const char start = 1;
    [[maybe_unused]] const ssize_t written = ::write(start_pipe_, &start, 1);
    ::close(std::exchange(start_pipe_, -1));
    int error = 0;
    ssize_t got = 0;
    while ((got = ::read(error_pipe_, &error, sizeof error)) < 0 && errno == EINTR) {
    }
    ::close(std::exchange(error_pipe_, -1));
    if (got != sizeof error) return {};  // closed by the exec
    return std::unexpected(broker::exec_failure(words_.front(), error));
}

Result<bool> Command::try_wait(ExitInfo& exit_info) {
    int status = 0;
    siginfo_t info{};
    // The broker reads the run time of a killed process from its zombie, so it must look before the zombie is reaped.
    if (run_ != nullptr && ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid_)
        run_->ended(pid_);
    const pid_t got = ::wait4(pid_, &status, WNOHANG, &exit_info.usage);
    if (got != pid_) return false;
    pid_ = -1;
    const rusage usage = exit_info.usage;
    exit_info = exit_info_of(status);
    exit_info.usage = usage;
    // A status of 125 (anyperf failed), 126 or 127 without has_begun() is the engine's: it could not start the command,
    // and has printed why.
    constexpr int kLeastOwnStatus = 125;
    if (run_ != nullptr && !run_->has_begun() && exit_info.signal == 0 && exit_info.exit_status >= kLeastOwnStatus)
        return std::unexpected(Error{"", "", "", exit_info.exit_status});
    return true;
}

void Command::send(int signal) const {
    if (pid_ > 0) ::kill(pid_, signal);
}

ExitInfo exit_info_of(int wait_status) {
    ExitInfo exit_info;
    exit_info.signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    exit_info.exit_status = exit_info.signal != 0 ? 128 + exit_info.signal : WEXITSTATUS(wait_status);
    return exit_info;
}

// A shell or a make that started anyperf must see the signal itself, not a status of 128 + n: it decides by WIFSIGNALED
// (wait(2)) whether to continue.
void die_by_signal_of(const ExitInfo& exit_info) {
    if (exit_info.signal == 0) return;
    ::prctl(PR_SET_DUMPABLE, 0);  // the command has written its core; this process must not write a second one
    ::signal(exit_info.signal, SIG_DFL);
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, exit_info.signal);
    ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
    ::raise(exit_info.signal);
}

}  // namespace anyperf::cli

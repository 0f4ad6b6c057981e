// command.cpp: see command.h.
#include "cli/command.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "broker/hosting.h"

namespace anyperf::cli {

namespace {

constexpr int kNotExecutable = 126;
constexpr int kNotFound = 127;

std::string message(int errno_value) {
    return std::generic_category().message(errno_value);
}

/// The child's side: nothing but calls that are safe after fork, for anyperf may have threads.
[[noreturn]] void wait_and_execute(char* const* words, int go, int failed, const SignalGate& gate,
                                   const broker::Hosting* run) {
    char byte = 0;
    while (::read(go, &byte, 1) < 0 && errno == EINTR) {
    }
    if (byte != 1) ::_exit(0);  // the parent gave up
    gate.restore();
    int error = 0;
    if (run != nullptr) {
        error = run->execute();
    } else {
        ::execvp(words[0], words);
        error = errno;
    }
    [[maybe_unused]] const ssize_t told = ::write(failed, &error, sizeof error);
    ::_exit(kNotFound);
}

/// "#!" names another program, and it is that one that exec doesn't find.
std::string interpreter_of(const std::string& script) {
    std::ifstream file{script};
    std::string line;
    if (!std::getline(file, line) || !line.starts_with("#!")) return {};
    const auto start = line.find_first_not_of(" \t", 2);
    if (start == std::string::npos) return {};
    return line.substr(start, line.find_first_of(" \t", start) - start);
}

Error not_found(const std::string& word) {
    Error error{"cannot run " + word, "", "", kNotFound};
    if (word.find('/') == std::string::npos) {
        error.cause = "there is no program of this name in the directories of PATH";
        error.fix = "give its path, or install it";
    } else if (::access(word.c_str(), F_OK) != 0) {
        error.cause = "there is no such file";
        error.fix = "check the path; it starts from the current directory";
    } else if (const auto interpreter = interpreter_of(word); !interpreter.empty()) {
        error.cause = "its first line names the interpreter " + interpreter + ", which doesn't exist";
        error.fix = "install that, or correct the line";
    } else {
        error.cause = "the dynamic loader that it needs doesn't exist";
        error.fix = "see `file " + word + "`";
    }
    return error;
}

Error not_executable(const std::string& word, int errno_value) {
    Error error{"cannot run " + word, message(errno_value), "", kNotExecutable};
    struct stat info{};
    if (::stat(word.c_str(), &info) != 0) return error;
    if (S_ISDIR(info.st_mode)) {
        error.cause = "it is a directory";
        error.fix = "name a program in it";
    } else if (errno_value == EACCES && (info.st_mode & 0111) == 0) {
        error.cause = "it is not marked as executable";
        error.fix = "chmod +x " + word;
    } else if (errno_value == ENOEXEC) {
        error.cause = "it is no program in a format that this machine runs";
    }
    return error;
}

/// What execve would find out, where it is the engine that is executed.
Result<void> may_be_executed(const std::string& word) {
    if (word.find('/') == std::string::npos) return {};  // is looked for in PATH
    struct stat info{};
    if (::stat(word.c_str(), &info) != 0) return std::unexpected(not_found(word));
    if (S_ISDIR(info.st_mode) || ::access(word.c_str(), X_OK) != 0)
        return std::unexpected(not_executable(word, EACCES));
    const std::string interpreter = interpreter_of(word);
    if (!interpreter.empty() && ::access(interpreter.c_str(), F_OK) != 0) return std::unexpected(not_found(word));
    return {};
}

}  // namespace

Result<Command> Command::fork(std::span<const std::string> words, const SignalGate& gate, broker::Hosting* run) {
    Command command;
    command.run_ = run;
    if (run != nullptr) {
        TRY(may_be_executed(words.front()));
        TRY(run->prepare(words));
    }
    command.words_.assign(words.begin(), words.end());
    std::vector<char*> pointers;
    pointers.reserve(words.size() + 1);
    for (auto& word : command.words_) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    std::array<int, 2> go{};
    std::array<int, 2> failed{};
    if (::pipe2(go.data(), O_CLOEXEC) != 0 || ::pipe2(failed.data(), O_CLOEXEC) != 0)
        return std::unexpected(Error{"cannot start " + words.front(), "no pipe: " + message(errno), "see `ulimit -n`"});
    const pid_t pid = ::fork();
    const int error = errno;
    if (pid == 0) {
        ::close(go[1]);
        wait_and_execute(pointers.data(), go[0], failed[1], gate, run);
    }
    ::close(go[0]);
    ::close(failed[1]);
    command.go_ = go[1];
    command.failed_ = failed[0];
    command.pid_ = pid;
    if (pid < 0)
        return std::unexpected(Error{"cannot start " + words.front(), "fork: " + message(error),
                                     "see `ulimit -u`, and the pids limit of the cgroup"});
    if (run != nullptr) run->forked(pid);
    return command;
}

Command::Command(Command&& other) noexcept
    : words_(std::move(other.words_)),
      run_(other.run_),
      pid_(std::exchange(other.pid_, -1)),
      go_(std::exchange(other.go_, -1)),
      failed_(std::exchange(other.failed_, -1)) {}

Command::~Command() {
    const bool waits = go_ >= 0;
    if (go_ >= 0) ::close(go_);
    if (failed_ >= 0) ::close(failed_);
    if (pid_ <= 0) return;
    if (!waits) ::kill(pid_, SIGTERM);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

Result<void> Command::execute() {
    const char go = 1;
    [[maybe_unused]] const ssize_t told = ::write(go_, &go, 1);
    ::close(std::exchange(go_, -1));
    int error = 0;
    ssize_t got = 0;
    while ((got = ::read(failed_, &error, sizeof error)) < 0 && errno == EINTR) {
    }
    ::close(std::exchange(failed_, -1));
    if (got != sizeof error) return {};  // closed by the exec
    const bool absent = error == ENOENT || error == ENOTDIR;
    return std::unexpected(absent ? not_found(words_.front()) : not_executable(words_.front(), error));
}

Result<bool> Command::ended(Ending& ending) {
    int status = 0;
    siginfo_t info{};
    if (run_ != nullptr && ::waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid_)
        run_->ended(pid_);
    const pid_t got = ::wait4(pid_, &status, WNOHANG, &ending.usage);
    if (got != pid_) return false;
    pid_ = -1;
    const rusage usage = ending.usage;
    ending = ending_of(status);
    ending.usage = usage;
    constexpr int kLeast = 125;
    if (run_ != nullptr && !run_->has_begun() && ending.signal == 0 && ending.exit_status >= kLeast)
        return std::unexpected(Error{"", "", "", ending.exit_status});
    return true;
}

void Command::send(int signal) const {
    if (pid_ > 0) ::kill(pid_, signal);
}

Ending ending_of(int wait_status) {
    Ending ending;
    ending.signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
    ending.exit_status = ending.signal != 0 ? 128 + ending.signal : WEXITSTATUS(wait_status);
    return ending;
}

void die_as(const Ending& ending) {
    if (ending.signal == 0) return;
    ::prctl(PR_SET_DUMPABLE, 0);  // the command has left its core already
    ::signal(ending.signal, SIG_DFL);
    sigset_t only;
    ::sigemptyset(&only);
    ::sigaddset(&only, ending.signal);
    ::sigprocmask(SIG_UNBLOCK, &only, nullptr);
    ::raise(ending.signal);
}

}  // namespace anyperf::cli

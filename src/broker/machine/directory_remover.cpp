#include "broker/machine/directory_remover.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace anyperf::broker {

namespace {

/// Reads until the pipe has no writer any more.
void wait_for_end(int pipe) {
    std::array<char, 16> unused{};
    for (;;) {
        const ssize_t got = ::read(pipe, unused.data(), unused.size());
        if (got == 0 || (got < 0 && errno != EINTR)) return;
    }
}

struct Pipe {
    OwnedFd read;
    OwnedFd write;
};

bool open_pipe(Pipe& pipe) {
    std::array<int, 2> ends{-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) return false;
    pipe.read = OwnedFd{ends[0]};
    pipe.write = OwnedFd{ends[1]};
    return true;
}

/// What the process does. It keeps no descriptor but the pipe: neither the command's output nor the run's socket may
/// stay open because of it. start() waits until its descriptors are closed. By then it has a session of its own, so a
/// signal to the broker's process group does not reach it.
[[noreturn]] void wait_and_remove(int pipe, const std::string& directory) {
    ::setsid();
    ::prctl(PR_SET_NAME, "anyperf-remover");
    ::dup2(pipe, 0);
    ::closefrom(1);
    wait_for_end(0);
    std::error_code ignored;
    std::filesystem::remove_all(directory, ignored);
    ::_exit(0);
}

}  // namespace

void DirectoryRemover::start(const std::string& directory) {
    Pipe held;
    Pipe ready;
    if (!open_pipe(held) || !open_pipe(ready)) return;
    process_ = ::fork();
    if (process_ == 0) wait_and_remove(held.read.get(), directory);
    if (process_ < 0) return;
    ready.write = OwnedFd{};
    wait_for_end(ready.read.get());
    pipe_ = std::move(held.write);
}

// A process that has inherited the pipe is not the remover's parent: waitpid() fails there, and the loop ends.
void DirectoryRemover::finish() {
    if (!pipe_) return;
    release();
    while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

}  // namespace anyperf::broker

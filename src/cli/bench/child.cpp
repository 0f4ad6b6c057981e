// child.cpp: the child's four descriptors are files that this process has opened before, so that an error is reported
// with its path and the child starts only if all of them exist. What it writes goes to memory files instead of pipes:
// nothing must be read while it runs, and it never waits for a reader, which would change how it runs.
#include "cli/bench/child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <system_error>

#include "broker/run_memory.h"
#include "try.h"

namespace anyperf::cli::bench {

namespace {

using broker::OwnedFd;

constexpr std::size_t kMostErrors = 4096;  // enough for the last messages of a failed command

Error cannot_start(const ChildOptions& options, const std::string& what) {
    return {"cannot run " + options.words.front(), fmt::format("{}: {}", what, std::generic_category().message(errno)),
            ""};
}

/// Moves a descriptor above the numbers that the child's descriptors get, so that dup2 of one never replaces another. A
/// negative `number` is a failed open: errno has its cause, and `what` names it in the error.
Result<OwnedFd> opened(int number, const ChildOptions& options, const std::string& what) {
    if (number < 0) return std::unexpected(cannot_start(options, what));
    const OwnedFd low{number};
    const int high = ::fcntl(number, F_DUPFD_CLOEXEC, kResults + 1);
    if (high < 0) return std::unexpected(cannot_start(options, what));
    return OwnedFd{high};
}

/// At most `most` bytes of a memory file: its last ones with `the_end`, else its first ones.
std::string content_of(const OwnedFd& file, std::size_t most, bool the_end) {
    const off_t size = std::max<off_t>(::lseek(file.get(), 0, SEEK_END), 0);
    std::string text(std::min(static_cast<std::size_t>(size), most), '\0');
    const off_t from = the_end ? size - static_cast<off_t>(text.size()) : 0;
    const ssize_t got = ::pread(file.get(), text.data(), text.size(), from);
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
    std::vector<char*> pointers;
    pointers.reserve(texts.size() + 1);
    for (std::string& text : texts) pointers.push_back(text.data());
    pointers.push_back(nullptr);
    return pointers;
}

/// "NAME=value" for each variable.
std::vector<std::string> variables_of(const ChildOptions& options) {
    std::vector<std::string> variables;
    if (options.environment)
        for (const auto& [name, value] : *options.environment) variables.push_back(name + "=" + value);
    else
        for (char** variable = ::environ; *variable != nullptr; ++variable) variables.emplace_back(*variable);
    return variables;
}

int wait_for(pid_t pid) {
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

// The directory is changed after the descriptors are in place: the paths of the files were opened here already. The
// program's path is relative to the new directory if it is relative at all (posix_spawn_file_actions_addchdir_np(3)).
Result<ChildResult> run_child(const ChildOptions& options) {
    const OwnedFd input =
        TRY(opened(::open(options.input.c_str(), O_RDONLY | O_CLOEXEC), options, "standard input " + options.input));
    const int sink =
        options.keeps_output ? ::memfd_create("output", MFD_CLOEXEC) : ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    const OwnedFd output = TRY(opened(sink, options, "standard output"));
    const OwnedFd errors = TRY(opened(::memfd_create("errors", MFD_CLOEXEC), options, "no memory"));
    const OwnedFd results = TRY(opened(::memfd_create("results", MFD_CLOEXEC), options, "no memory"));
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, input.get(), 0);
    ::posix_spawn_file_actions_adddup2(&actions, output.get(), 1);
    ::posix_spawn_file_actions_adddup2(&actions, errors.get(), 2);
    ::posix_spawn_file_actions_adddup2(&actions, results.get(), kResults);
    ::posix_spawn_file_actions_addchdir_np(&actions, options.directory.c_str());
    std::vector<std::string> words = options.words;
    std::vector<std::string> variables = variables_of(options);
    pid_t pid = -1;
    errno = ::posix_spawn(&pid, words.front().c_str(), &actions, nullptr, pointers_to(words).data(),
                          pointers_to(variables).data());
    ::posix_spawn_file_actions_destroy(&actions);
    if (errno != 0) return std::unexpected(cannot_start(options, "in the directory " + options.directory));
    const int exit_status = wait_for(pid);
    return ChildResult{exit_status, content_of(errors, kMostErrors, true),
                       options.keeps_output ? content_of(output, kMostResults, false) : "",
                       content_of(results, kMostResults, false)};
}

}  // namespace anyperf::cli::bench
